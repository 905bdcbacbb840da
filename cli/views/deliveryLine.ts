/** One received webhook as one line, for a person and as JSON (operator surface, `sim partner listen`). */
import type { Reaction } from "../../simulator/partner/WebhookBehaviour.ts"
import type { ReceivedDelivery } from "../../simulator/partner/WebhookReceiver.ts"

/** The JSON form of a delivery, without the script of the reaction. `answered` is the status, or null without an answer. */
export const deliveryDocument = ({ reaction, ...delivery }: ReceivedDelivery): object => ({
  ...delivery,
  answered: reaction.type === "answer" ? reaction.status : null
})

/** The text form of a delivery, such as `webhook  collateral.booked  #12  client 4  signature ok`. */
export const deliveryLine = (delivery: ReceivedDelivery): string =>
  [
    "webhook",
    delivery.event ?? "unreadable",
    delivery.id === null ? null : `#${delivery.id}`,
    delivery.body === null || delivery.body.clientId === null ? null : `client ${delivery.body.clientId}`,
    delivery.problem === null ? "signature ok" : `REFUSED: ${delivery.problem}`,
    delivery.duplicate ? "duplicate" : delivery.receipts > 1 ? `attempt ${delivery.receipts}` : null,
    reactionText(delivery.reaction)
  ]
    .filter((part) => part !== null)
    .join("  ")

/** The reaction as text; null for the usual immediate 200. */
const reactionText = (reaction: Reaction): string | null => {
  if (reaction.type === "silent") return "left unanswered"
  if (reaction.type === "reset") return "cut off"
  if (reaction.type === "lost") return "taken, its answer lost"
  const { status, delayMillis = 0 } = reaction
  const late = delayMillis === 0 ? "" : ` after ${delayMillis / 1_000} s`
  return status === 200 && late === "" ? null : `answered ${status}${late}`
}
