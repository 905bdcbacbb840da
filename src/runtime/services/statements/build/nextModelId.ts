/** Ids of models. They are taken outside turns, because a model is written before the commit that names it. */
import { Effect } from "effect"
import { IdsExhausted } from "../../../engine/journal/IdBlocks.ts"
import type { Journal } from "../../../engine/journal/Journal.ts"

/** A new id for a model. Waits while the process has no reserved id left. */
export const nextModelId = (journal: Pick<Journal["Service"], "nextId" | "idsRefilled">): Effect.Effect<number> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(journal.nextId("statementModel"))
    } catch (error) {
      return error instanceof IdsExhausted
        ? Effect.andThen(journal.idsRefilled, nextModelId(journal))
        : Effect.die(error)
    }
  })
