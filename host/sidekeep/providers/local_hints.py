"""What the local model is told besides the user's words, and how it is kept short: tuned on real answers."""

#: Told when a text is attached. Found by reading what the model made of articles: asked to copy and to be
#: short it stays with the page; longer instructions it repeats or ignores.
LOCAL_HINT = (
    "Answer in two or three short sentences. Copy facts, names and numbers exactly from the page. "
    "Do not add anything that the page does not say."
)
#: Told otherwise.
CHAT_HINT = "You are a helpful assistant. Answer in a few short sentences."

#: After this many tokens the answer ends with the sentence it is in; what such a model says later is made up.
ANSWER_TOKENS_WITH_TEXT = 90
ANSWER_TOKENS = 200
#: And here it ends wherever it is.
MOST_TOKENS = 400
#: Of the turn's own instructions (those of the user are at the end) the model reads this much.
SYSTEM_TOKENS = 160
