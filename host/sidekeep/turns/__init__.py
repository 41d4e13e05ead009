"""The execution of a turn: context, environment, the model call, and the transactions of its moves."""
