/**
 * Reconciliation breaks (A3-11; operator surface, break): opened and closed by staff, and known to every mailbox at once,
 * because an approval asks for them. The open ones are a live view, changed only by committed rows.
 */
import { Context, Effect, Layer } from "effect"
import {
  type BreakScope,
  type BreakStatus,
  pauses,
  type ReconBreakContext
} from "../../../machines/reconciliation/ReconBreak.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { parseId } from "../../../machines/shared/Ids.ts"
import { accept, conflict, invalidFields, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../machines/shared/Text.ts"
import { ActorHost, type DispatchError, type Turn, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { ReconBreakRow } from "../../store/tables/reconciliation.ts"
import { signedAmount } from "../ledger/Adjustments.ts"
import { clientSubject } from "../client/clientState.ts"
import { Directory } from "../partner/Directory.ts"
import { type OperatorCaller, systemSubject } from "../operator/OperatorKeys.ts"
import type { PageQuery } from "../../store/paging.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { advance, start } from "../../effects/advance.ts"

/** A break as the operator sees it. */
export interface BreakView extends Omit<ReconBreakContext, "closingReason"> {
  readonly status: BreakStatus
  readonly closingReason: string | null
}

export interface BreakBody {
  /** ALL, or the id or code of a partner, or the id or uid of a client. */
  readonly scope: string
  readonly currency: string
  /** Signed decimal string in the currency's scale; not zero. */
  readonly amount: string
  readonly reason: string
  /** True when absent. */
  readonly pausesMoneyOut?: boolean
}

export class Breaks extends Context.Service<
  Breaks,
  {
    /** Whether an open break pauses money out of this client now. */
    readonly pausing: (client: { readonly clientId: number; readonly partnerId: number }) => boolean
    /** Newest first. */
    list(query: PageQuery & { readonly status?: BreakStatus }): Effect.Effect<ReadonlyArray<BreakView>, Unavailable>
    open(caller: OperatorCaller, request: BreakBody): Effect.Effect<Verdict<BreakView>, DispatchError>
    /** Whether `close` could run now: asked before it is put before a second pair of eyes. */
    check(breakId: number): Effect.Effect<Verdict<BreakView>, Unavailable>
    close(caller: OperatorCaller, breakId: number, reason: string): Effect.Effect<Verdict<BreakView>, DispatchError>
  }
>()("brokerage/runtime/services/reconciliation/Breaks") {
  static readonly layer = Layer.effect(
    Breaks,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const stored = yield* RowReads
      const open = new Map<number, ReconBreakRow>()
      const follow = (row: ReconBreakRow): void =>
        row.state === "OPEN" ? void open.set(row.id, row) : void open.delete(row.id)
      for (const row of yield* Effect.orDie(stored.all("reconBreaks"))) follow(row)
      host.onCommitted("reconBreaks", follow)

      const clientOf = (idOrUid: string): Effect.Effect<Scope | null, Unavailable> => {
        const id = parseId(idOrUid)
        const asScope = (client: { readonly id: number; readonly partnerId: number } | undefined): Scope | null =>
          client === undefined ? null : { scope: "CLIENT", partnerId: client.partnerId, clientId: client.id }
        if (id !== undefined) return host.read(clientSubject(id), (state) => asScope(state.one("clients")))
        return Effect.map(stored.page("clients", [{ column: "uid", value: idOrUid }], { limit: 1 }), ([row]) =>
          asScope(row)
        )
      }

      /** A bare number may name both a partner and a client: no money is paused by a guess. */
      const scopeOf = (text: string): Effect.Effect<Verdict<Scope>, Unavailable> => {
        if (text === "ALL") return Effect.succeed(accept({ scope: "ALL", partnerId: null, clientId: null }))
        const [, kind = null, name = text] = /^(partner|client):(.+)$/.exec(text) ?? []
        const partner = kind === "client" ? null : directory.findPartner(name)
        const mayBeClient = kind !== "partner" && (parseId(name) !== undefined || uidShape.test(name))
        return Effect.map(mayBeClient ? clientOf(name) : Effect.succeed(null), (client) => {
          if (partner !== null && client !== null) return refuse(invalidFields({ scope: ambiguous(name) }))
          if (partner !== null) return accept({ scope: "PARTNER", partnerId: partner.row.id, clientId: null })
          return client === null ? refuse(unknown("Partner or client")) : accept(client)
        })
      }

      return Breaks.of({
        pausing: (client) => {
          for (const row of open.values()) if (pauses(row.context, client)) return true
          return false
        },
        list: ({ status, limit, before }) =>
          Effect.map(
            stored.page("reconBreaks", status === undefined ? [] : [{ column: "state", value: status }], {
              limit,
              ...(before === undefined ? {} : { before })
            }),
            (rows) => rows.map(viewOf)
          ),
        open: (caller, request) =>
          Effect.gen(function* () {
            const parsed = signedAmount(request)
            if (typeof parsed === "string") return refuse(invalidFields({ amount: parsed }))
            const scope = yield* scopeOf(request.scope)
            if (!scope.ok) return scope
            return yield* host.dispatch({
              subject: systemSubject,
              by: caller.by,
              decide: (turn) =>
                accept(
                  viewOf(
                    openBreak(turn, scope.value, {
                      currency: parsed.currency,
                      minor: parsed.amount,
                      amount: formatAmount(parsed.amount, parsed.currency),
                      reason: cleanText(request.reason),
                      pausesMoneyOut: request.pausesMoneyOut ?? true
                    })
                  )
                )
            })
          }),
        check: (breakId) =>
          Effect.map(stored.page("reconBreaks", [{ column: "id", value: breakId }], { limit: 1 }), ([row]) => {
            if (row === undefined) return refuse(unknown("Reconciliation break"))
            return row.state === "OPEN" ? accept(viewOf(row)) : refuse(closedAlready)
          }),
        close: (caller, breakId, reason) =>
          Effect.gen(function* () {
            const [row] = yield* stored.page("reconBreaks", [{ column: "id", value: breakId }], { limit: 1 })
            if (row === undefined) return refuse(unknown("Reconciliation break"))
            const closed = host.dispatch({
              subject: systemSubject,
              by: caller.by,
              decide: (turn) => closeBreak(turn, row, cleanText(reason))
            })
            return yield* Effect.catchTag(closed, "ClaimLost", () => Effect.succeed(refuse(closedAlready)))
          })
      })
    })
  )
}

/** Prefix, hyphen, digits (F31); the database is asked for nothing else. */
const uidShape = /^[A-Z0-9]{1,16}-[0-9]{8,16}$/

const ambiguous = (name: string): string =>
  `${name} is a partner and a client: write partner:${name} or client:${name}, a partner's code or a client's uid.`

interface Scope {
  readonly scope: BreakScope
  readonly partnerId: number | null
  readonly clientId: number | null
}

interface Difference {
  readonly currency: string
  readonly minor: bigint
  readonly amount: string
  readonly reason: string
  readonly pausesMoneyOut: boolean
}

const viewOf = (row: ReconBreakRow): BreakView => ({ ...row.context, status: row.state })

const openBreak = (turn: Turn, scope: Scope, { minor, ...difference }: Difference): ReconBreakRow => {
  const id = turn.nextId("reconBreak")
  const { currency } = difference
  return start(turn, "reconBreaks", {
    input: { breakId: id, ...scope, ...difference, openedAt: turn.now },
    columns: { id, ...scope, currency, amount: minor, openedAt: turn.now }
  })
}

const closedAlready = conflict("CLOSED_ALREADY", "This reconciliation break is closed already.")

/**
 * `read`: the break as it was read outside the mailbox, which does not hold those that clients' turns have opened. A break is
 * closed once: its closing is a unique fact.
 */
const closeBreak = (turn: Turn, read: ReconBreakRow, reason: string): Verdict<BreakView> => {
  const row = turn.state.get("reconBreaks", String(read.id)) ?? read
  turn.draft.claim(`breakClosed:${read.id}`, read.id)
  const next = advance(turn, "reconBreaks", row, { type: "CLOSE", at: turn.now, reason })
  return next === null ? refuse(closedAlready) : accept(viewOf(next))
}
