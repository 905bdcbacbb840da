/** Handlers of ledger, audit, machines, the sandbox clock and approvals: each is one call of a service (operator surface). */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Semaphore } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { accept, refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError } from "../../runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../runtime/engine/clock/BusinessClock.ts"
import { SealingService } from "../../runtime/engine/sealing/SealingService.ts"
import { inTurn } from "../../runtime/engine/withinTime.ts"
import { verifyLedger } from "../../runtime/ledger/verify.ts"
import { Adjustments } from "../../runtime/services/money/ledger/Adjustments.ts"
import { Approvals } from "../../runtime/services/operations/operator/Approvals.ts"
import { AuditTrail } from "../../runtime/services/operations/operator/AuditTrail.ts"
import { findClient } from "../../runtime/services/account/findClient.ts"
import { Directory } from "../../runtime/services/partners/Directory.ts"
import { MoneyReads } from "../../runtime/services/operations/operator/MoneyReads.ts"
import { MachineObjects } from "../../runtime/services/operations/operator/MachineObjects.ts"
import { Inspect } from "../../runtime/services/operations/operator/Inspect.ts"
import { exportLedger } from "../../runtime/services/money/ledger/ledgerExport.ts"
import type { OperatorCaller } from "../../runtime/services/shared/OperatorCaller.ts"
import { SimClock } from "../../runtime/services/operations/system/SimClock.ts"
import { type CheckedSoFar, CheckProgress } from "../../runtime/store/checks/CheckProgress.ts"
import { whenAway } from "../../runtime/store/whenAway.ts"
import { mayRun } from "../api/operator/commands.ts"
import { LedgerGroup } from "../api/operator/LedgerGroup.ts"
import { Settings } from "../../runtime/Settings.ts"
import { AuditGroup } from "../api/operator/AuditGroup.ts"
import { MachineGroup } from "../api/operator/MachineGroup.ts"
import { ClockGroup } from "../api/operator/ClockGroup.ts"
import { ApprovalGroup } from "../api/operator/ApprovalGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { nextOf, pathOf } from "./atlas/objectPath.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, answerOf, engineError, forbidden, refusalError, withoutKeys } from "./toOperatorError.ts"

const ledgerHandlers = HttpApiBuilder.group(
  OperatorApi,
  "ledger",
  Effect.fnUntraced(function* (handlers) {
    const approvals = yield* Approvals
    const sql = yield* PgClient.PgClient
    const sealing = yield* SealingService
    const reads = yield* MoneyReads
    // Only one verification and one export run at a time, because each holds connections and a snapshot for its whole
    // duration.
    const turn = yield* Semaphore.make(1)
    const exporting = yield* Semaphore.make(1)
    let verifying: CheckedSoFar | null = null
    const parts = { sql, directory: yield* Directory, clock: yield* BusinessClock }
    return handlers.handleAll({
      adjust: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) =>
          answer(approvals.submit(caller, "ledger adjust", { ...payload, client: params.client }))
        ),
      list: ({ params, query: { limit = 100, ...rest } }) => answer(reads.postings(params.client, { limit, ...rest })),
      verify: () =>
        answerOf(
          inTurn(
            turn,
            verifyLedger.pipe(
              Effect.provideService(CheckProgress, (at) => void (verifying = at)),
              Effect.ensuring(Effect.sync(() => void (verifying = null))),
              Effect.provideService(PgClient.PgClient, sql),
              Effect.provideService(SealingService, sealing),
              Effect.catch(whenAway)
            )
          )
        ),
      verifying: () => answerOf(Effect.sync(() => verifying)),
      export: ({ query }) => answer(inTurn(exporting, exportLedger(parts, query)))
    })
  })
)

export const ledger = operatorFeature({ api: LedgerGroup, layer: Adjustments.layer, handlers: ledgerHandlers })

const auditHandlers = HttpApiBuilder.group(
  OperatorApi,
  "audit",
  Effect.fnUntraced(function* (handlers) {
    const audit = yield* AuditTrail
    const directory = yield* Directory
    const host = yield* ActorHost
    const sql = yield* PgClient.PgClient
    return handlers.handleAll({
      tail: ({ query }) =>
        answer(
          Effect.gen(function* () {
            const partner = query.partner === undefined ? undefined : directory.findPartner(query.partner)
            if (partner === null) return refuse(unknown("Partner"))
            const client = query.client === undefined ? undefined : yield* findClient(host, sql, query.client)
            if (client?.ok === false) return client
            const { entries, hasMore } = yield* audit.read({
              limit: query.limit ?? 50,
              ...(partner === undefined ? {} : { partnerId: partner.row.id }),
              ...(client === undefined ? {} : { clientId: client.value.id }),
              ...(query.object === undefined ? {} : { object: query.object }),
              ...(query.since === undefined ? {} : { since: query.since }),
              ...(query.after === undefined ? {} : { after: query.after }),
              ...(query.before === undefined ? {} : { before: query.before })
            })
            const nextBefore = hasMore ? (entries[0]?.auditId ?? null) : null
            return accept({ entries, nextAfter: entries.at(-1)?.auditId ?? query.after ?? 0, hasMore, nextBefore })
          })
        )
    })
  })
)

export const audit = operatorFeature({ api: AuditGroup, layer: AuditTrail.layer, handlers: auditHandlers })

const machineHandlers = HttpApiBuilder.group(
  OperatorApi,
  "machine",
  Effect.fnUntraced(function* (handlers) {
    const inspect = yield* Inspect
    const settings = yield* Settings
    const objects = yield* MachineObjects
    return handlers.handleAll({
      list: () => answerOf(Effect.map(inspect.counts, (machines) => ({ machines }))),
      inspect: ({ params, query }) =>
        answer(
          Effect.map(
            inspect.machine(params.kind, params.id, {
              limit: query.limit ?? 200,
              ...(query.before === undefined ? {} : { before: query.before })
            }),
            (found) => {
              if (!found.ok) return found
              const { own: _, isNewest: __, ...object } = found.value
              return accept({ ...object, path: pathOf(found.value), next: nextOf(found.value, settings.fourEyes) })
            }
          )
        ),
      instances: ({ params, query }) =>
        answer(
          objects.inState(params.kind, params.state, {
            limit: query.limit ?? 50,
            ...(query.after === undefined ? {} : { after: query.after })
          })
        )
    })
  })
)

export const machine = operatorFeature({
  api: MachineGroup,
  layer: Layer.mergeAll(Inspect.layer.pipe(Layer.provide(AuditTrail.layer)), MachineObjects.layer),
  handlers: machineHandlers
})

const clockHandlers = HttpApiBuilder.group(
  OperatorApi,
  "clock",
  Effect.fnUntraced(function* (handlers) {
    const clock = yield* SimClock
    return handlers.handleAll({
      show: () => answer(clock.show),
      advance: ({ payload }) => Effect.flatMap(currentCaller, (caller) => answer(clock.advance(caller, payload)))
    })
  })
)

export const clock = operatorFeature({ api: ClockGroup, layer: SimClock.layer, handlers: clockHandlers })

const approvalHandlers = HttpApiBuilder.group(
  OperatorApi,
  "approval",
  Effect.fnUntraced(function* (handlers) {
    const approvals = yield* Approvals
    /** Runs a decision on an approval. It needs the role of the waiting command. */
    const onApproval = <A>(
      segment: string,
      rule: (caller: OperatorCaller, approvalId: number) => Effect.Effect<Verdict<A>, DispatchError>
    ) =>
      Effect.gen(function* () {
        const caller = yield* currentCaller
        const id = parseId(segment)
        const command = id === undefined ? null : yield* Effect.catch(approvals.commandOf(id), engineError)
        if (id === undefined || command === null) return yield* refusalError(unknown("Approval"))
        if (!mayRun(caller.role, command)) return yield* forbidden(caller.role, command)
        return yield* answer(rule(caller, id))
      })
    return handlers.handleAll({
      list: ({ query }) =>
        answerOf(
          Effect.map(
            approvals.list({
              limit: query.limit ?? 100,
              ...(query.status === undefined ? {} : { status: query.status })
            }),
            (list) => ({ approvals: list })
          )
        ),
      show: ({ params }) =>
        Effect.gen(function* () {
          const caller = yield* currentCaller
          const id = parseId(params.approvalId)
          const mayRunIt = (command: string) => mayRun(caller.role, command)
          const found = id === undefined ? null : yield* Effect.catch(approvals.show(caller, id, mayRunIt), engineError)
          return yield* found === null
            ? Effect.fail(refusalError(unknown("Approval")))
            : answerOf(Effect.succeed(withoutKeys(found)))
        }),
      grant: ({ params }) => onApproval(params.approvalId, approvals.grant),
      refuse: ({ params }) => onApproval(params.approvalId, approvals.refuse)
    })
  })
)

export const approval = operatorFeature({ api: ApprovalGroup, layer: Approvals.layer, handlers: approvalHandlers })
