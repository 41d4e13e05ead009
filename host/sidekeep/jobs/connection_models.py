"""The job `connection.models`: what an endpoint offers, with what a person said of its models."""

from typing import Any

import msgspec

from sidekeep.jobs.endpoint import asked, begun, described, listed
from sidekeep.jobs.work import Work
from sidekeep.model.errors import SidekeepError, StoreError
from sidekeep.providers.base import ModelInfo

LISTING_SECONDS = 30.0
#: Routers list some hundreds of models; more is no list that a person chooses from.
MOST = 5_000


async def list_models(work: Work) -> dict[str, Any]:
    """`{"models": [ConnectionModel…], "errors": [{"code", "message"}…]}`; what was described by hand stands
    in the list also when the endpoint does not answer. `modelId` asks for that model alone."""
    errors: list[dict[str, str]] = []
    models: dict[str, dict[str, Any]] = {}
    try:
        connection = await begun(work, total=1)
        models = described(connection)
        async with asked(work, connection) as provider:
            for model in (await listed(provider, LISTING_SECONDS))[:MOST]:
                models[model.id] = merged(model, models.get(model.id, {}))
    except StoreError:
        raise
    except SidekeepError as error:
        errors.append({"code": error.code, "message": error.message})
    wanted = work.params.get("modelId")
    if wanted:
        if wanted not in models and not errors:
            errors.append({"code": "not_found", "message": f"The endpoint does not offer the model {wanted}."})
        models = {name: model for name, model in models.items() if name == wanted}
    return {"models": list(models.values()), "errors": errors}


def merged(offered: ModelInfo, said: dict[str, Any]) -> dict[str, Any]:
    """A ConnectionModel: what a person said of it goes before what the endpoint says."""
    told = msgspec.to_builtins(offered)
    capabilities = {name: told.pop(name) for name in ("toolUse", "vision", "maxContext") if name in told}
    capabilities.update(said.get("capabilities") or {})
    model = {**told, **said}
    if capabilities:
        model["capabilities"] = capabilities
    return model
