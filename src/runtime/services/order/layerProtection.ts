/** Has every turn end with what its client's protected orders ask for (D7); apart, so that it is there before anything is decided. */
import { Effect, Layer } from "effect"
import { ActorHost, type Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../engine/mailbox/turnRows.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { instanceOf } from "../client/clientState.ts"
import { Directory } from "../partner/Directory.ts"
import { partnerOfTurn } from "../partner/partnerOfTurn.ts"
import { Recall } from "../shared/Recall.ts"
import { protectInTurn } from "./protection.ts"

export const layerProtection = Layer.effectDiscard(
  Effect.gen(function* () {
    const directory = yield* Directory
    const recall = new Recall(yield* RowReads)
    ;(yield* ActorHost).onDecided((turn) => {
      const client = oneInTurn(turn, "clients")
      if (client === undefined || !mayProtect(turn)) return
      const partner = partnerOfTurn(turn, directory, client)
      if (partner !== null) protectInTurn({ turn, of: instanceOf(client, partner), recall })
    })
  })
)

const mayProtect = ({ state, draft }: Turn): boolean =>
  state.all("attachments").length > 0 ||
  draft.written("attachments").length > 0 ||
  draft.written("orders").some(({ context }) => context.attach !== null)
