/**
 * The deeds that `watch` can do: each is tried as a dry run first and shown, and then carried out as it was shown (operator surface,
 * watch). The service decides: of two who decide the same thing the second is refused.
 */
import { Effect } from "effect"
import { type CallService, type OperatorClient } from "../OperatorClient.ts"
import { CliFailure } from "../CliIo.ts"
import type { Connection } from "../connection.ts"
import type { Deed, Would } from "../dryRun.ts"
import { lookAtCases, type LookedAt } from "../lookAtCases.ts"
import { readNames } from "../names.ts"
import { given } from "../options.ts"
import { refusalLines } from "../refusalText.ts"
import { approvalInShort, deedInShort, effectsView } from "../views/approvals.ts"
import { candidatesTable, type Candidate } from "../views/candidates.ts"
import type { Names } from "../views/cellText.ts"
import type { Callings } from "../views/changes.ts"
import { fields, stack, text, type View, type Words } from "../views/View.ts"
import { approvalOf, type Intent } from "./WatchModel.ts"

/** A deed as it would be, and how to carry out just that. */
export interface Rehearsed {
  readonly view: View
  readonly names: Names
  /** Answers what was done. */
  readonly go: () => Promise<string>
}

interface Done {
  readonly data: object
  readonly dryRun?: Would
}

type Act = (api: OperatorClient) => Effect.Effect<Done, unknown>

/** Rejects with a CliFailure: refused, or the service can't be reached. */
export const rehearse = async (call: CallService, connection: Connection, intent: Intent): Promise<Rehearsed> => {
  const dry = { ...connection, dryRun: true }
  const { item } = intent
  const looked = item.kind === "case" ? await call(connection, (api) => lookAtAll(api, intent)) : null
  const act = actOf(intent, looked?.seen ?? {})
  const tried = await call(dry, act)
  if (tried.dryRun === undefined) throw new Error("the service has carried out a dry run")
  const names = await call(connection, (api) => readNames(api, new Set(["partner", "operator"])))
  const approvalId = approvalOf(item)
  const asked =
    approvalId === null ? null : (await call(connection, (api) => api.approval.show({ params: { approvalId } }))).data
  return {
    names,
    view: stack(
      text(headline(intent)),
      ...(looked === null ? [] : [looked.view, text("")]),
      asked === null
        ? triedView(tried.data, tried.dryRun, callingsOf(intent, names))
        : approvalInShort(asked, callingsOf(intent, names))
    ),
    go: async () => {
      const { data } = await call(connection, act)
      return "approvalId" in data && approvalId === null
        ? `Waiting for a second operator key: brokerage approval grant ${String(data.approvalId)}.`
        : `Done: ${headline(intent)}`
    }
  }
}

const callingsOf = ({ item: { clientId, clientUid } }: Intent, { partner }: Names): Callings => ({
  partner: (id) => partner.get(id) ?? String(id),
  client: clientId === null || clientUid === null ? null : { clientId, clientUid }
})

/** Under four eyes what the grant would do; the effects and the answer of anything else. */
const triedView = (data: object, would: Would, callings: Callings): View => {
  const { deed } = data as { readonly deed?: Deed }
  if (deed !== undefined) return deedInShort("A second operator key has to grant it. Then:", deed, callings)
  const known = Object.entries(data).filter(([, value]) => value !== null)
  return stack(effectsView(would), text(""), fields(Object.fromEntries(known)))
}

/** What a refusal or a lost connection says. */
export const wordsOf = (error: unknown): string => {
  if (!(error instanceof CliFailure)) throw error
  return refusalLines(error.envelope)
    .map((line) => line.trim())
    .join(" ")
}

/** "Approve withdrawal 513 of ACM-00000001: 250.000000 USDC." */
export const headline = ({ item, verb, words }: Intent): string => {
  const sum = item.amount === null ? null : `${item.amount} ${item.currency ?? ""}`.trim()
  const of = item.clientUid ?? item.partner ?? "?"
  const approvalId = approvalOf(item)
  if (approvalId !== null) {
    const asked = item.kind === "approval" ? item.about : `${item.kind} ${item.id}`
    return `${capital(verb.name)} approval ${approvalId}, ${asked} of ${of}${sum === null ? "" : `: ${sum}`}.`
  }
  const what = sum ?? item.about
  const said = words.trim() === "" ? "" : ` ${verb.asks}: ${words.trim()}.`
  return `${capital(verb.name)} ${item.kind} ${item.id} of ${of}: ${what ?? ""}.${said}`
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const actOf = ({ item, verb, words }: Intent, seen: Partial<LookedAt>): Act => {
  const { kind, id, clientId } = item
  const reason = words.trim()
  const requestId = id
  const approvalId = approvalOf(item)
  if (approvalId !== null) {
    return verb.name === "grant"
      ? (api) => api.approval.grant({ params: { approvalId } })
      : (api) => api.approval.refuse({ params: { approvalId } })
  }
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
    const lines: Array<Words> = []
    const seen = yield* lookAtCases(api, String(item.clientId), (line) => void lines.push(line))
    const near = yield* Effect.forEach(seen.cases, (caseId) =>
      Effect.map(api.case.show({ params: { caseId: String(caseId) } }), ({ data: { details, entries } }) => {
        const { candidates = [] } = (details ?? {}) as { readonly candidates?: ReadonlyArray<Candidate> }
        return candidates.length === 0 ? [] : [text(`case ${caseId}`), candidatesTable(candidates, entries)]
      })
    )
    return { seen, view: stack(...lines.map((line) => text(line)), ...near.flat()) }
  })
