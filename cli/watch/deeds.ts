/**
 * The deeds that `watch` can do: each is tried as a dry run first and shown, and then carried out as it was shown (operator surface,
 * watch). The service decides: of two who decide the same thing the second is refused.
 */
import { Effect } from "effect"
import { type CallService, type OperatorClient } from "../OperatorClient.ts"
import { CliFailure } from "../CliIo.ts"
import type { Connection } from "../connection.ts"
import type { Would } from "../dryRun.ts"
import { lookAtCases, type LookedAt } from "../lookAtCases.ts"
import { given } from "../options.ts"
import { candidatesTable, type Candidate } from "../views/candidates.ts"
import { fields, stack, text, type View } from "../views/View.ts"
import type { Intent } from "./WatchModel.ts"

/** A deed as it would be, and how to carry out just that. */
export interface Rehearsed {
  readonly view: View
  /** Answers what was done. */
  readonly go: () => Promise<string>
}

interface Done {
  readonly data: object
  readonly dryRun?: Would
}

/** What would be booked and told, then how many rows of what are written. */
const effectsOf = ({ postings, events, rows }: Would): View =>
  stack(
    ...postings.map(({ account, amount, currency, kind }) =>
      text(`books   ${account}  ${amount} ${currency}  ${kind}`)
    ),
    ...events.map(({ event }) => text(`tells   ${event}`)),
    text(
      `writes  ${
        Object.entries(rows)
          .map(([name, n]) => `${name} ${n}`)
          .join(", ") || "nothing"
      }`
    )
  )

type Act = (api: OperatorClient) => Effect.Effect<Done, unknown>

/** Rejects with a CliFailure: refused, or the service can't be reached. */
export const rehearse = async (call: CallService, connection: Connection, intent: Intent): Promise<Rehearsed> => {
  const dry = { ...connection, dryRun: true }
  const { item } = intent
  const looked = item.kind === "case" ? await call(connection, (api) => lookAtAll(api, intent)) : null
  const act = actOf(intent, looked?.seen ?? {})
  const tried = await call(dry, act)
  if (tried.dryRun === undefined) throw new Error("the service has carried out a dry run")
  return {
    view: stack(
      text(headline(intent)),
      ...(looked === null ? [] : [looked.view, text("")]),
      effectsOf(tried.dryRun),
      text(""),
      fields(Object.fromEntries(Object.entries(tried.data).filter(([, value]) => value !== null)))
    ),
    go: async () => {
      const { data } = await call(connection, act)
      return "approvalId" in data
        ? `Waiting for a second operator key: brokerage approval grant ${String(data.approvalId)}.`
        : `Done: ${headline(intent)}`
    }
  }
}

/** What a refusal or a lost connection says. */
export const wordsOf = (error: unknown): string => {
  if (!(error instanceof CliFailure)) throw error
  const { errors } = (error.envelope.data ?? {}) as { readonly errors?: Readonly<Record<string, string>> }
  const fieldSentences = Object.values(errors ?? {})
  return [error.envelope.msg, ...fieldSentences].join(" ")
}

/** "Approve withdrawal 513 of ACM-00000001: 250.000000 USDC." */
export const headline = ({ item, verb, words }: Intent): string => {
  const what = item.amount === null ? item.about : `${item.amount} ${item.currency}`
  const said = words.trim() === "" ? "" : ` ${verb.asks}: ${words.trim()}.`
  return `${capital(verb.name)} ${item.kind} ${item.id} of ${item.clientUid ?? item.partner ?? "?"}: ${what ?? ""}.${said}`
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const actOf = ({ item: { kind, id, clientId }, verb, words }: Intent, seen: Partial<LookedAt>): Act => {
  const reason = words.trim()
  const requestId = id
  switch (`${kind} ${verb.name}`) {
    case "deposit confirm":
      return (api) => api.deposit.confirm({ params: { noticeId: id }, payload: {} })
    case "deposit reject":
      return (api) => api.deposit.reject({ params: { noticeId: id }, payload: { reason } })
    case "withdrawal approve":
      return (api) => api.withdrawal.approve({ params: { requestId } })
    case "withdrawal pay":
      return (api) => api.withdrawal.pay({ params: { requestId } })
    case "withdrawal reject":
      return (api) => api.withdrawal.reject({ params: { requestId }, payload: { reason } })
    case "withdrawal fail":
      return (api) => api.withdrawal.fail({ params: { requestId }, payload: { reason } })
    case "case clear":
      return (api) =>
        api.kyc.clear({
          params: { client: String(clientId) },
          payload: { ...seen, ...given({ note: reason === "" ? undefined : reason }) }
        })
    case "case reject":
      return (api) => api.kyc.reject({ params: { client: String(clientId) }, payload: { reason } })
    default:
      throw new Error(`${kind} has no ${verb.name}`)
  }
}

interface LookedAtCase {
  readonly seen: LookedAt
  readonly view: View
}

/** The client's open cases, and who on the lists came near: what is cleared is what is shown here. */
const lookAtAll = (api: OperatorClient, { item }: Intent): Effect.Effect<LookedAtCase, unknown> =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const seen = yield* lookAtCases(api, String(item.clientId), (line) => void lines.push(line))
    const near = yield* Effect.forEach(seen.cases, (caseId) =>
      Effect.map(api.case.show({ params: { caseId: String(caseId) } }), ({ data: { details, entries } }) => {
        const { candidates = [] } = (details ?? {}) as { readonly candidates?: ReadonlyArray<Candidate> }
        return candidates.length === 0 ? [] : [text(`case ${caseId}`), candidatesTable(candidates, entries)]
      })
    )
    return { seen, view: stack(...lines.map(text), ...near.flat()) }
  })
