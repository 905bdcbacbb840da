/**
 * `ledger verify`: recomputes every balance and invariant from the postings, in one snapshot, while the service runs. Each
 * check has a figure; the first break has a detail. Writers never wait for the verification. But the database keeps old
 * versions of frequently changed rows for the snapshot, so checks of sealed rows, which never change, run after the snapshot.
 */
import { Effect } from "effect"
import { type CheckResult, runChecks } from "../store/checks/runChecks.ts"
import { readChain } from "./sealChain.ts"
import { checkModels } from "./statementModels.ts"
import { checkDestinations } from "./withdrawalDestinations.ts"

export interface LedgerCheck extends CheckResult {
  readonly ok: boolean
}

export interface LedgerReport {
  readonly ok: boolean
  readonly checks: ReadonlyArray<LedgerCheck>
}

/** Runs the checks that need no key, on one REPEATABLE READ snapshot. An interrupt ends its statement too. */
export const verifyBooks = Effect.gen(function* () {
  const { results, lastSeal } = yield* runChecks
  const chain = yield* readChain(lastSeal)
  const checked = [
    ...results,
    {
      name: "the chain of seals is complete and matches every sealed row",
      figure: `${chain.rows} rows, ${chain.seals} seals, last ${chain.last}`,
      detail: chain.detail
    }
  ]
  return reportOf(checked)
})

/** Runs every check: those of `verifyBooks`, then those of sealed rows, which need the key. */
export const verifyLedger = Effect.gen(function* () {
  const { checks: checked } = yield* verifyBooks
  const { compared, detail } = yield* checkDestinations
  const models = yield* checkModels
  return reportOf([
    ...checked,
    { name: "every withdrawal request shows the destination it was filed with", figure: String(compared), detail },
    {
      name: "every statement model has its stored hash and size, and its account agrees with the postings",
      figure: String(models.compared),
      detail: models.detail
    }
  ])
})

const reportOf = (checked: ReadonlyArray<CheckResult>): LedgerReport => ({
  ok: checked.every(({ detail }) => detail === null),
  checks: checked.map(({ name, figure, detail }) => ({ name, ok: detail === null, figure, detail }))
})
