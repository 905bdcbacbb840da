/**
 * The commands that four eyes can guard. Each has the check before the approval, the arguments that are bound to the
 * approval, and the command itself. A new class needs one entry here and its name in the list of classes.
 */
import { Effect } from "effect"
import type { CloseOutWire } from "../../../../machines/margin/CloseOutWire.ts"
import type { InterfirmRecord } from "../../../../machines/settlement/SettlementFigures.ts"
import { accept, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { WithdrawalRequest } from "../../../../machines/withdrawal/WithdrawalRequest.ts"
import type { DispatchError } from "../../../engine/mailbox/ActorHost.ts"
import { CloseOutDesk, type WidenRequest } from "../../margin/CloseOutDesk.ts"
import { type Adjustment, type AdjustmentBody, Adjustments } from "../../money/ledger/Adjustments.ts"
import { Breaks, type BreakView } from "../../money/breaks/Breaks.ts"
import { Interfirm, type InterfirmBody } from "../../money/settlement/Interfirm.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import type { IssuedKey } from "../../lifecycle/partnerDecisions.ts"
import { type KeyBody, type PartnerProfile, Partners } from "../../lifecycle/Partners.ts"
import { type Payout, type PayoutBody, Payouts } from "../../money/ledger/Payouts.ts"
import { SwapDesk, type SwapView, type WriteOffRequest } from "../../trading/swap/SwapDesk.ts"
import { Withdrawals } from "../../money/withdrawal/Withdrawals.ts"
import { type Resolved, type ResolveRequest, VenueResolutions } from "./VenueResolutions.ts"
import type { CustodyBody } from "../../lifecycle/partnerEnds.ts"

// Types instead of interfaces, here and for the requests: only types are assignable to JSON, in which form they are
// stored.
type OfClient = {
  readonly client: string
  /** Further facts for the approver. They are stored with the arguments, and requests do not contain them. */
  readonly clientUid?: string
}
type OfRequest = {
  readonly requestId: number
}
/** Facts of a withdrawal request, besides its id, for the approver. They are stored with the arguments. */
type Shown = Partial<Pick<WithdrawalRequest, "amount" | "currency" | "clientUid">>
type OfPartner = {
  readonly partner: string
}
type OfBreak = {
  readonly breakId: number
}
type Reasoned = {
  readonly reason: string
}

/**
 * Arguments and result of each command. The arguments are stored as JSON in this form, so the command runs with exactly
 * the granted arguments.
 */
export interface GuardedCommands {
  "ledger adjust": { readonly args: OfClient & AdjustmentBody; readonly result: Adjustment }
  "interfirm record": { readonly args: OfPartner & InterfirmBody; readonly result: InterfirmRecord }
  "key issue": { readonly args: OfPartner & KeyBody; readonly result: IssuedKey }
  "withdrawal approve": { readonly args: OfRequest & Shown; readonly result: WithdrawalRequest }
  "withdrawal pay": { readonly args: OfRequest & Shown; readonly result: WithdrawalRequest }
  "withdrawal fail": { readonly args: OfRequest & Shown & Reasoned; readonly result: WithdrawalRequest }
  "break close": { readonly args: OfBreak & Reasoned; readonly result: BreakView }
  "client payout": { readonly args: OfClient & PayoutBody; readonly result: Payout }
  "partner custody": { readonly args: OfPartner & CustodyBody; readonly result: PartnerProfile }
  "venue resolve": { readonly args: ResolveRequest; readonly result: Resolved }
  "swap writeoff": { readonly args: WriteOffRequest; readonly result: SwapView }
  "closeout widen": { readonly args: WidenRequest; readonly result: CloseOutWire }
}
export type GuardedName = keyof GuardedCommands
export type ArgsOf<C extends GuardedName> = GuardedCommands[C]["args"]
export type ResultOf<C extends GuardedName> = GuardedCommands[C]["result"]

/**
 * The result of a check: the arguments to store, with objects named by id, or the result of a command that has nothing
 * left to do.
 */
export type Checked<C extends GuardedName> = { readonly bind: ArgsOf<C> } | { readonly done: ResultOf<C> }

export interface GuardedCommand<C extends GuardedName> {
  /** Checks whether the command could run now. Writes nothing. */
  readonly check: (args: ArgsOf<C>) => Effect.Effect<Verdict<Checked<C>>, DispatchError>
  readonly run: (caller: OperatorCaller, args: ArgsOf<C>) => Effect.Effect<Verdict<ResultOf<C>>, DispatchError>
}
export type GuardedTable = { readonly [C in GuardedName]: GuardedCommand<C> }

/** Maps the value of a verdict to its checked arguments. */
const bound = <A, C extends GuardedName>(verdict: Verdict<A>, bind: (value: A) => Checked<C>): Verdict<Checked<C>> =>
  verdict.ok ? accept(bind(verdict.value)) : verdict

export const guardedCommands: Effect.Effect<
  GuardedTable,
  never,
  Adjustments | Breaks | CloseOutDesk | Interfirm | Partners | Payouts | SwapDesk | VenueResolutions | Withdrawals
> = Effect.gen(function* () {
  const adjustments = yield* Adjustments
  const interfirm = yield* Interfirm
  const partners = yield* Partners
  const withdrawals = yield* Withdrawals
  const payouts = yield* Payouts
  const breaks = yield* Breaks
  const resolutions = yield* VenueResolutions
  const swaps = yield* SwapDesk
  const closeOuts = yield* CloseOutDesk
  const stepOf = (
    to: "APPROVED" | "PAID"
  ): GuardedCommand<"withdrawal approve"> & GuardedCommand<"withdrawal pay"> => ({
    check: (args) =>
      Effect.map(withdrawals.check(args.requestId, to), (verdict) =>
        bound(verdict, ({ request, repeated }) =>
          repeated ? { done: request } : { bind: { ...args, ...shownOf(request) } }
        )
      ),
    run: (caller, { requestId }) => withdrawals.rule(caller, requestId, { to })
  })
  return {
    "ledger adjust": {
      check: ({ client, ...request }) =>
        Effect.map(adjustments.check(client, request), (verdict) =>
          bound(verdict, ({ clientId, clientUid }) => ({ bind: { ...request, client: String(clientId), clientUid } }))
        ),
      run: (caller, { client, ...request }) => adjustments.adjust(caller, client, request)
    },
    "interfirm record": {
      check: ({ partner, ...request }) =>
        Effect.map(interfirm.check(partner, request), (verdict) =>
          bound(verdict, ({ partnerId, recorded }) =>
            recorded === null ? { bind: { ...request, partner: String(partnerId) } } : { done: recorded }
          )
        ),
      run: (caller, { partner, ...request }) => interfirm.record(caller, partner, request)
    },
    "key issue": {
      check: ({ partner, ...request }) =>
        Effect.succeed(
          bound(partners.mayIssueKey(partner), ({ partnerId }) => ({
            bind: { ...request, partner: String(partnerId) }
          }))
        ),
      run: (caller, { partner, ...request }) => partners.issueKey(caller, partner, request)
    },
    "withdrawal approve": stepOf("APPROVED"),
    "withdrawal pay": stepOf("PAID"),
    "withdrawal fail": {
      check: (args) =>
        Effect.map(withdrawals.check(args.requestId, "FAILED"), (verdict) =>
          bound(verdict, ({ request, repeated }) =>
            repeated ? { done: request } : { bind: { ...args, ...shownOf(request) } }
          )
        ),
      run: (caller, { requestId, reason }) => withdrawals.rule(caller, requestId, { to: "FAILED", reason })
    },
    "break close": {
      check: (args) => Effect.map(breaks.check(args.breakId), (verdict) => bound(verdict, () => ({ bind: args }))),
      run: (caller, { breakId, reason }) => breaks.close(caller, breakId, reason)
    },
    "client payout": {
      check: ({ client, ...request }) =>
        Effect.map(payouts.check(client, request), (verdict) =>
          bound(verdict, ({ clientId, clientUid, paid }) =>
            paid === null ? { bind: { ...request, client: String(clientId), clientUid } } : { done: paid }
          )
        ),
      run: (caller, { client, ...request }) => payouts.pay(caller, client, request)
    },
    "partner custody": {
      check: ({ partner, ...request }) =>
        Effect.map(partners.mayChangeCustody(partner, request), (verdict) =>
          bound(verdict, ({ partnerId }) => ({ bind: { ...request, partner: String(partnerId) } }))
        ),
      run: (caller, { partner, ...request }) => partners.custody(caller, partner, request)
    },
    "venue resolve": {
      check: (request) => Effect.map(resolutions.check(request), (verdict) => bound(verdict, (bind) => ({ bind }))),
      run: (caller, request) => resolutions.resolve(caller, request)
    },
    "swap writeoff": {
      check: (request) => Effect.map(swaps.check(request), (verdict) => bound(verdict, (bind) => ({ bind }))),
      run: (caller, request) => swaps.writeOff(caller, request)
    },
    "closeout widen": {
      check: (request) => Effect.map(closeOuts.check(request), (verdict) => bound(verdict, (bind) => ({ bind }))),
      run: (caller, request) => closeOuts.widen(caller, request)
    }
  }
})

/** The configured classes that have no command here, so that four eyes would guard nothing. */
export const guardNothing = (classes: Iterable<string>, commands: object): ReadonlyArray<string> =>
  [...classes].filter((name) => !Object.hasOwn(commands, name))

const shownOf = ({ amount, currency, clientUid }: WithdrawalRequest) => ({ amount, currency, clientUid })
