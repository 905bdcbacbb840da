/**
 * Actions of `watch`. Each is first shown as a dry run and then executed exactly as shown. Of two concurrent decisions, the
 * service refuses the second (operator surface, watch).
 */
import { type CallService, type OperatorClient } from "../OperatorClient.ts"
import { CliFailure, isRefusal } from "../CliIo.ts"
import type { Connection } from "../connection.ts"
import type { Deed, Would } from "../dryRun.ts"
import { readCases, type ReadCase } from "../readCases.ts"
import { readNames } from "../names.ts"
import { given } from "../options.ts"
import { refusalLines } from "../refusalText.ts"
import {
  requestInShort,
  type RequestedApproval,
  requestedCommand,
  deedInShort,
  destinationOf,
  effectsView,
  knownFields
} from "../views/approvals.ts"
import { candidatesTable, type Candidate } from "../views/candidates.ts"
import type { Names } from "../views/cellText.ts"
import { type Callings, type Change, changesView } from "../views/changes.ts"
import { asSent, stack, text, type View, richText, type RichText } from "../views/View.ts"
import { approvalOf, type Intent } from "./WatchModel.ts"

/** A dry run, with the function that executes exactly the action shown. */
export interface Rehearsed {
  readonly view: View
  readonly names: Names
  /** Executes the action; returns the outcome as text. */
  readonly go: () => Promise<string>
}

interface Done {
  readonly data: object
  readonly dryRun?: Would
  readonly changes?: ReadonlyArray<Change>
}

type Tried = Done & { readonly dryRun: Would }

type Act = (api: OperatorClient) => Promise<Done>

/** Makes the dry run of an action. Rejects with a CliFailure when it is refused, or when the service is unreachable. */
export const rehearse = async (call: CallService, connection: Connection, intent: Intent): Promise<Rehearsed> => {
  const dry = { ...connection, dryRun: true }
  const { item } = intent
  const looked = item.kind === "case" ? await call(connection, (api) => reviewAll(api, intent)) : null
  const act = actOf(intent, looked?.seen ?? {})
  const { dryRun, ...answer } = await call(dry, act)
  if (dryRun === undefined) throw new Error("the service has carried out a dry run")
  const tried: Tried = { ...answer, dryRun }
  const names = await call(connection, (api) => readNames(api, new Set(["partner", "operator"])))
  const approvalId = approvalOf(item)
  const approval =
    approvalId === null ? null : (await call(connection, (api) => api.approval.show({ params: { approvalId } }))).data
  const callings = callingsOf(intent, names)
  const title = headline(intent, approval)
  return {
    names,
    view: stack(
      text(title),
      ...(looked === null ? [] : [personLine(tried.data)]),
      ...(approval === null ? destinationLine(tried.data) : [requestInShort(approval)]),
      ...deedViews(approval, intent, tried, callings),
      ...(looked === null ? [] : [text(""), looked.view]),
      ...(approval === null ? answerViews(tried.data) : [])
    ),
    go: async () => {
      const { data } = await call(connection, act)
      return "approvalId" in data && approvalId === null
        ? `Waiting for a second operator key: brokerage approval grant ${String(data.approvalId)}.`
        : `Done: ${title}`
    }
  }
}

/** The effects that the screen shows for an action. The effects of a grant are those of the command that it grants. */
const deedViews = (
  approval: RequestedApproval | null,
  { verb }: Intent,
  tried: Tried,
  callings: Callings
): ReadonlyArray<View> => {
  const { data, dryRun, changes = [] } = tried
  if (approval !== null && verb.name === "grant")
    return approval.deed === null ? [] : [text(""), deedInShort("When it is granted:", approval.deed, callings)]
  const { deed } = data as { readonly deed?: Deed }
  if (deed !== undefined) return [deedInShort("A second operator key has to grant it. Then:", deed, callings)]
  return [...(approval === null ? [] : [text("")]), changesView(changes, callings), effectsView(dryRun)]
}

/** A line about the client, so that the operator can compare the candidates with the person. */
const personLine = (client: object): View => {
  const { clientUid, displayName, email } = client as Readonly<Record<string, unknown>>
  return text(`The client is ${[displayName, email, clientUid].map(String).join(", ")}.`)
}

const callingsOf = ({ item: { clientId, clientUid } }: Intent, { partner }: Names): Callings => ({
  partner: (id) => partner.get(id) ?? String(id),
  client: clientId === null || clientUid === null ? null : { clientId, clientUid }
})

/** The destination of a withdrawal, so that finance sees it before the money is sent; nothing for other actions. */
const destinationLine = (data: object): ReadonlyArray<View> => {
  const { deed } = data as { readonly deed?: Deed }
  const destination = destinationOf(deed === undefined || "refusal" in deed ? data : deed.result)
  return destination === null ? [] : [text(richText`to ${asSent(destination)}`)]
}

/** The command's answer; under four eyes it is empty, because the effects contain the answer. */
const answerViews = (data: object): ReadonlyArray<View> => ("deed" in data ? [] : [text(""), knownFields(data)])

/**
 * The text of a refusal or of a lost connection. After a refusal nothing has changed; after a lost connection the action
 * may be done. The two texts make that difference clear.
 */
export const errorText = (error: unknown): string => {
  if (!(error instanceof CliFailure)) throw error
  const lines = refusalLines(error.envelope).map((line) => line.trim())
  return `${isRefusal(error) ? "Refused: " : "Error: "}${lines.join(" ")}`
}

/**
 * The action as a sentence: "Approve withdrawal 513 of ACM-00000001: 250.000000 USDC." `approval` is the approval to decide,
 * once known; it names the waiting command.
 */
export const headline = ({ item, verb, words }: Intent, approval: RequestedApproval | null = null): string => {
  const sum = item.amount === null ? null : `${item.amount} ${item.currency ?? ""}`.trim()
  const of = item.clientUid ?? item.partner ?? "?"
  const approvalId = approvalOf(item)
  if (approvalId !== null) {
    const what =
      approval === null
        ? item.kind === "approval"
          ? item.about
          : `${item.kind} ${item.id}`
        : requestedCommand(approval)
    return `${capital(verb.name)} approval ${approvalId}, ${what} of ${of}${sum === null ? "" : `: ${sum}`}.`
  }
  const what = sum ?? item.about
  const remark = words.trim() === "" ? "" : ` ${verb.prompt}: ${words.trim()}.`
  return `${capital(verb.name)} ${item.kind} ${item.id} of ${of}: ${what ?? ""}.${remark}`
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const actOf = ({ item, verb, words }: Intent, seen: Partial<ReadCase>): Act => {
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
      return (api) =>
        api.kyc.reject({
          params: { client: String(clientId) },
          payload: { reason, ...given({ revision: seen.revision }) }
        })
    default:
      throw new Error(`${kind} has no ${verb.name}`)
  }
}

interface LookedAtCase {
  readonly seen: ReadCase
  readonly view: View
}

/** The client's open cases with their candidates; exactly these cases are cleared. */
const reviewAll = async (api: OperatorClient, { item }: Intent): Promise<LookedAtCase> => {
  const lines: Array<RichText> = []
  const seen = await readCases(api, String(item.clientId), (line) => void lines.push(line))
  const near: Array<View> = []
  for (const caseId of seen.cases) {
    const { details, entries } = (await api.case.show({ params: { caseId: String(caseId) } })).data
    const { candidates = [] } = (details ?? {}) as { readonly candidates?: ReadonlyArray<Candidate> }
    if (candidates.length > 0) near.push(text(`case ${caseId}`), candidatesTable(candidates, entries))
  }
  return { seen, view: stack(...lines.map((line) => text(line)), ...near) }
}
