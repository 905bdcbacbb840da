/** Commands on an object that the path names by id. A malformed id counts as an unknown object (A1-01). */
import { Effect } from "effect"
import { parseId } from "../../machines/shared/Ids.ts"
import { refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import type { Noun } from "../../machines/shared/RefusalReason.ts"
import type { DispatchError } from "../../runtime/engine/mailbox/ActorHost.ts"
import type { OperatorCaller } from "../../runtime/services/shared/OperatorCaller.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

export const onObject = <A>(
  what: Noun,
  segment: string,
  run: (caller: OperatorCaller, id: number) => Effect.Effect<Verdict<A>, DispatchError>
) =>
  Effect.flatMap(currentCaller, (caller) => {
    const id = parseId(segment)
    return answer(id === undefined ? Effect.succeed(refuse(unknown(what))) : run(caller, id))
  })
