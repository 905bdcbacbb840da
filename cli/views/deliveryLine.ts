/** One received webhook as one line, for a person and as JSON (operator surface, `sim partner listen`). */
import type { EventName, FeedEventName } from "../../src/machines/Effects.ts"
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

/**
 * The line of a delivery on the screen of `serve --demo`, with the local time, the object and the amount, such as
 * `  21:48:14  settlement.item_created  #3  client 1  COMMISSION -0.030001 USDC`.
 */
export const demoDeliveryLine = (delivery: ReceivedDelivery): string => {
  const { id, event, body, problem, duplicate, receipts } = delivery
  if (body === null) return `  ${deliveryLine(delivery)}`
  return [
    `  ${new Date(body.ts).toTimeString().slice(0, 8)}`,
    event,
    `#${id}`,
    body.clientId === null ? null : `client ${body.clientId}`,
    problem === null ? subjectOf(body.event, body.data) : `REFUSED: ${problem}`,
    duplicate ? "duplicate" : receipts > 1 ? `attempt ${receipts}` : null
  ]
    .filter((part) => part !== null && part !== "")
    .join("  ")
}

/** Object and amount of an event; empty for an event of a newer service. */
const subjectOf = (event: string, data: Data): string =>
  Object.hasOwn(subjects, event) ? subjects[event as EventName | FeedEventName](data) : ""

type Data = Readonly<Record<string, unknown>>

/** The members of the given names in order, without the absent ones. A noun precedes the value of its member. */
const parts =
  (...names: ReadonlyArray<string | readonly [noun: string, name: string]>) =>
  (data: Data): string =>
    names
      .flatMap((each) => {
        const [noun, name] = typeof each === "string" ? ["", each] : [`${each[0]} `, each[1]]
        const value = data[name]
        return typeof value === "string" || typeof value === "number" ? [`${noun}${value}`] : []
      })
      .join(" ")

const subjects: { readonly [E in EventName | FeedEventName]: (data: Data) => string } = {
  "client.onboarded": parts("lifecycleState", ["level", "verificationLevel"], ["package", "kycPackageId"]),
  "client.review_required": parts("reason", ["case", "caseId"]),
  "client.level_changed": parts(["from", "from"], ["to", "to"]),
  "appropriateness.result": parts("outcome", ["score", "score"]),
  "kyc.rejected": parts(["package", "kycPackageId"], "reason"),
  "kyc.documents_requested": parts(["package", "kycPackageId"], "note"),
  "deposit.confirmed": parts(["notice", "noticeId"], "amount", "currency"),
  "deposit.rejected": parts(["notice", "noticeId"], "amount", "currency", "reason"),
  "collateral.booked": parts("direction", "amount", "currency"),
  "collateral.refused": parts("direction", "amount", "currency", "refusal"),
  "settlement.item_created": parts("type", "amount", "currency"),
  "withdrawal.status": parts(["request", "requestId"], "status", "amount", "currency"),
  "webhook.test": parts("message"),
  "client.verification_decision": parts("ref"),
  "margin.restriction_set": parts("ref"),
  "margin.restriction_lifted": parts("ref"),
  "money.movement": parts(["transaction", "ref"]),
  "barrier.near_take_profit": parts(["contract", "ref"]),
  "barrier.near_barrier": parts(["contract", "ref"]),
  "barrier.expiry_soon": parts(["contract", "ref"]),
  "swap.settled": parts(["swap", "ref"]),
  "swap.defaulted": parts(["swap", "ref"]),
  "statement.ready": parts(["statement", "ref"])
}
