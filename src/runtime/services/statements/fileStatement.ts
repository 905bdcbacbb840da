/**
 * Files the row of a statement in a short turn of its client. If the model equals that of the newest version, no row is
 * written. Otherwise the statement becomes the next version and supersedes the newest version. Each version is claimed,
 * so that of two concurrent builds one files it and the other finds it (D20; A2-66, STS-16, STS-33).
 */
import { Effect } from "effect"
import { conflict, accept, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import { currentRenderer, versionClaim } from "../../../machines/statement/Statement.ts"
import type { RequestedPeriod } from "../../../machines/statement/statementPeriod.ts"
import { advance, start } from "../../effects/advance.ts"
import {
  type ActorHost,
  type Attribution,
  type DispatchError,
  type Turn,
  Unavailable
} from "../../engine/mailbox/ActorHost.ts"
import type { Lane } from "../../engine/journal/Journal.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { StatementRow } from "../../tables/statement.ts"
import { clientSubject } from "../account/clientState.ts"
import type { Stated } from "./model/Building.ts"
import type { StoredModel } from "./model/ModelWriter.ts"

export interface FilingTools {
  readonly host: ActorHost["Service"]
  readonly stored: RowReads["Service"]
}

/** The requester of a statement, and the reason of a correction. */
export interface Maker {
  readonly by: Attribution
  /** The role that `generatedBy` shows. */
  readonly role: string
  readonly lane?: Lane
  /** The reason of a correction by staff, for which an equal model is refused (STS-33). Null: no correction. */
  readonly correction: string | null
}

export interface Filing {
  readonly client: Stated
  readonly period: RequestedPeriod
  readonly model: StoredModel
  readonly fingerprint: string
}

type PeriodOf = Pick<RequestedPeriod, "kind" | "from" | "to">

/** The newest stored version of a client's statement for a period; null if none is stored. */
export const newestVersion = (
  stored: RowReads["Service"],
  clientId: number,
  { kind, from, to }: PeriodOf
): Effect.Effect<StatementRow | null, Unavailable> =>
  Effect.map(
    stored.page(
      "statements",
      [
        { column: "client_id", value: clientId },
        { column: "kind", value: kind },
        { column: "period_from", value: from },
        { column: "period_to", value: to }
      ],
      { limit: 1 }
    ),
    ([row]) => row ?? null
  )

/** The most attempts to file a statement. An attempt fails if a concurrent build files the same version first. */
const rounds = 5

/**
 * Files the row of a stored model. An equal newest version is returned instead, or refused for a correction. `left` counts the
 * attempts that remain after a version was lost to a concurrent filing.
 */
export const fileStatement = (
  tools: FilingTools,
  maker: Maker,
  filing: Filing,
  left = rounds
): Effect.Effect<Verdict<StatementRow>, DispatchError> =>
  Effect.gen(function* () {
    const { client, period, model } = filing
    if (left === 0) return yield* new Unavailable({ unknown: false })
    const newest = yield* newestVersion(tools.stored, client.clientId, period)
    if (newest !== null && newest.context.sha256 === model.sha256)
      return maker.correction === null
        ? accept(newest)
        : refuse(conflict("STATEMENT_UNCHANGED", "The statement is the same as before."))
    return yield* tools.host
      .dispatch({
        subject: clientSubject(client.clientId),
        by: maker.by,
        ...(maker.lane === undefined ? {} : { lane: maker.lane }),
        decide: (turn) => accept(newVersion(turn, maker, filing, newest))
      })
      .pipe(Effect.catchTag("ClaimLost", () => fileStatement(tools, maker, filing, left - 1)))
  })

/** Adds the next version of a period, in a turn of its client. A job that files many statements uses a turn of the system. */
export const newVersion = (
  turn: Turn,
  { role, correction }: Pick<Maker, "role" | "correction">,
  { client, period, model, fingerprint }: Filing,
  before: StatementRow | null
): StatementRow => {
  const { clientId, partnerId } = client
  const statementId = turn.nextId("statement")
  const version = (before?.number ?? 0) + 1
  const { kind, from: periodFrom, to: periodTo } = period
  turn.draft.claim(versionClaim({ kind, clientId, periodFrom, periodTo, version }), statementId)
  if (before !== null)
    advance(turn, "statements", before, { type: "SUPERSEDE", supersededBy: statementId, reason: correction })
  return start(turn, "statements", {
    input: {
      statementId,
      clientId,
      clientUid: client.clientUid,
      kind,
      periodFrom,
      periodTo,
      currency: "USDC",
      version,
      supersedes:
        before === null ? null : { statementId: before.id, version: before.number, sha256: before.context.sha256 },
      sha256: model.sha256,
      rows: model.rows,
      renderer: currentRenderer,
      correctionReason: correction,
      facts: fingerprint
    },
    event: { type: "GENERATE", at: turn.now, by: role },
    columns: {
      id: statementId,
      partnerId,
      clientId,
      kind,
      periodFrom,
      periodTo,
      number: version,
      modelId: model.modelId,
      generatedAt: turn.now
    }
  })
}
