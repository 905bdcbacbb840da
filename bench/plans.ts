/** The extent of each part of a run: the whole run, or a quick one. */
import { join } from "node:path"
import { type StakingPlan, stakingRows } from "./staking/stakingRounds.ts"
import { type StatementPlan, statementRows, usualStatementRows } from "./statements/statementRounds.ts"
import { type MarginPlan, marginRows, usualMarginRows } from "./margin/marginRounds.ts"

export interface Plan {
  readonly quick: boolean
  readonly dataDirectory: string
  readonly clients: number
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  readonly laterStarts: number
  readonly storedClients: number
  readonly readClients: number
  readonly transitions: number
  /** The rows that were requested by name; null: the usual rows. */
  readonly rows: ReadonlySet<string> | null
}

/** The names of all rows, for parts that consist of rows. */
export const namedRows: ReadonlyArray<string> = [...marginRows, ...stakingRows, ...statementRows]

const rowsOf = <R extends string>(rows: Plan["rows"], all: ReadonlyArray<R>, usual = all): ReadonlySet<R> =>
  new Set(rows === null ? usual : all.filter((row) => rows.has(row)))

export const planOf = (quick: boolean, dataDirectory: string, rows: ReadonlySet<string> | null = null): Plan =>
  quick
    ? {
        quick,
        dataDirectory,
        clients: 1_000,
        rounds: 1,
        sliceMillis: 1_500,
        warmMillis: 1_000,
        laterStarts: 1,
        storedClients: 10_000,
        readClients: 5_000,
        transitions: 20_000,
        rows
      }
    : {
        quick,
        dataDirectory,
        clients: 1_000,
        rounds: 5,
        sliceMillis: 3_000,
        warmMillis: 3_000,
        laterStarts: 3,
        storedClients: 100_000,
        readClients: 20_000,
        transitions: 200_000,
        rows
      }

export const webhookPlanOf = (plan: Plan) => ({
  dataDirectory: join(plan.dataDirectory, "webhooks"),
  clients: 100,
  rounds: plan.rounds === 1 ? 1 : 3,
  burstMillis: plan.quick ? 500 : 1_500,
  backlog: plan.quick ? 2_000 : 10_000,
  trickleMillis: plan.quick ? 3_000 : 12_000
})

export const onboardingPlanOf = (plan: Plan) => ({
  dataDirectory: join(plan.dataDirectory, "onboarding"),
  clients: plan.clients,
  storedClients: plan.storedClients,
  entries: plan.quick ? 50_000 : 500_000,
  rounds: plan.rounds,
  sliceMillis: plan.sliceMillis,
  warmMillis: plan.warmMillis
})

export const screeningPlanOf = ({ quick, rounds }: Plan) => ({
  lists: quick ? [5_000, 50_000] : [50_000, 500_000],
  clients: quick ? 500 : 1_000,
  scanned: quick ? 10 : 20,
  rounds
})

export const moneyPlanOf = (plan: Plan) => ({
  dataDirectory: join(plan.dataDirectory, "money"),
  clients: plan.quick ? 200 : 500,
  rounds: plan.rounds,
  sliceMillis: plan.sliceMillis,
  warmMillis: plan.warmMillis,
  bulkReports: plan.quick ? 8 : 16,
  summarySizes: [10_000, 1_000_000]
})

export const feedPlanOf = ({ dataDirectory, quick, rounds, sliceMillis, warmMillis }: Plan) => ({
  dataDirectory: join(dataDirectory, "markets"),
  clients: quick ? 200 : 1_000,
  rounds,
  sliceMillis,
  warmMillis
})

export const lostCallsPlanOf = ({ dataDirectory, quick, rounds }: Plan) => ({
  dataDirectory: join(dataDirectory, "lost-calls"),
  clients: 100,
  rounds: quick ? 1 : rounds
})

export const startsPlanOf = ({ dataDirectory, quick, rounds }: Plan) => ({
  dataDirectory: join(dataDirectory, "starts"),
  rounds: quick ? 3 : Math.max(5, rounds)
})

export const eventFlowPlanOf = ({ dataDirectory, quick, rounds }: Plan) => ({
  dataDirectory: join(dataDirectory, "contracts"),
  clients: quick ? 2_000 : 10_000,
  eventsEach: 10,
  rounds
})

export const massEndPlanOf = ({ dataDirectory, quick, sliceMillis, warmMillis }: Plan) => ({
  dataDirectory: join(dataDirectory, "mass-end"),
  clients: quick ? 200 : 10_000,
  contractsEach: 10,
  others: quick ? 200 : 1_000,
  rounds: quick ? 1 : 3,
  sliceMillis,
  warmMillis,
  tickingMillis: quick ? 5_000 : 60_000
})

export const openingPlanOf = ({ dataDirectory, quick, rounds, sliceMillis, warmMillis }: Plan) => ({
  dataDirectory: join(dataDirectory, "openings"),
  clients: quick ? 100 : 500,
  rounds,
  sliceMillis,
  warmMillis
})

/** Duration of a slice: long enough for a p99 of sequential orders, ms. */
const fairnessMillis = 8_000

/** Duration of a slice of orders, ms. An order takes two commits and a venue call, which a busy machine slows down. */
const orderMillis = 3_000

export const orderPlanOf = ({ dataDirectory, quick, rounds, sliceMillis, warmMillis }: Plan) => ({
  dataDirectory: join(dataDirectory, "orders"),
  clients: quick ? 100 : 200,
  rounds: quick ? 1 : Math.min(3, rounds),
  sliceMillis: Math.max(orderMillis, sliceMillis),
  warmMillis: Math.max(orderMillis, warmMillis),
  filledEach: quick ? 5 : 10,
  holders: quick ? 50 : 100
})

export const fairnessPlanOf = ({ dataDirectory, quick, rounds, sliceMillis }: Plan) => ({
  dataDirectory: join(dataDirectory, "fairness"),
  rounds: quick ? 1 : Math.min(3, rounds),
  sliceMillis: Math.max(fairnessMillis, sliceMillis),
  stored: quick ? 500 : 600
})

export const commandPlanOf = ({ dataDirectory, quick }: Plan) => ({
  dataDirectory: join(dataDirectory, "cli"),
  rounds: quick ? 5 : 15
})

export const marginPlanOf = ({ dataDirectory, quick, rows }: Plan): Omit<MarginPlan, "progress"> => ({
  dataDirectory: join(dataDirectory, "margin"),
  rows: rowsOf(rows, marginRows, usualMarginRows),
  marks: { clients: quick ? 40_000 : 400_000, rounds: quick ? 1 : 3 },
  replay: { accounts: quick ? 5_000 : 50_000, ticks: quick ? 60 : 600 },
  closeOuts: { others: quick ? 200 : 1_000, singles: quick ? 20 : 200, crowd: quick ? 200 : 10_000 },
  funding: { others: quick ? 200 : 1_000, holders: quick ? 1_000 : 100_000, stamps: 2, plain: quick ? 1_000 : 8_000 },
  starts: { clients: quick ? 4_000 : 400_000, rounds: quick ? 1 : 3 }
})

export const stakingPlanOf = ({
  dataDirectory,
  quick,
  rows,
  rounds,
  sliceMillis,
  warmMillis
}: Plan): Omit<StakingPlan, "progress"> => ({
  rows: rowsOf(rows, stakingRows),
  reads: {
    dataDirectory: join(dataDirectory, "staking/reads"),
    behind: [1_000, quick ? 100_000 : 1_000_000],
    rounds: quick ? 1 : Math.min(3, rounds),
    sliceMillis,
    warmMillis
  },
  takes: {
    dataDirectory: join(dataDirectory, "staking/takes"),
    clients: quick ? 100 : 200,
    rounds: quick ? 1 : Math.min(3, rounds),
    sliceMillis: Math.max(orderMillis, sliceMillis),
    warmMillis: Math.max(orderMillis, warmMillis)
  },
  maturities: {
    dataDirectory: join(dataDirectory, "staking/maturities"),
    others: quick ? 200 : 1_000,
    swaps: quick ? 2_000 : 100_000,
    plain: quick ? 1_000 : 8_000,
    calmMillis: quick ? 5_000 : 20_000
  }
})

export const statementPlanOf = ({ dataDirectory, quick, rows, rounds }: Plan): Omit<StatementPlan, "progress"> => {
  const night = { clients: quick ? 500 : 10_000, each: 20, plain: quick ? 200 : 2_000, others: quick ? 200 : 1_000 }
  return {
    rows: rowsOf(rows, statementRows, usualStatementRows),
    files: {
      dataDirectory: join(dataDirectory, "statements/files"),
      postings: quick ? 10_000 : 100_000,
      few: 1_000,
      rounds: quick ? 1 : Math.min(3, rounds),
      others: night.others
    },
    night: { ...night, dataDirectory: join(dataDirectory, "statements/night") },
    nights: {
      ...night,
      clients: 10 * night.clients,
      plain: 0,
      dataDirectory: join(dataDirectory, "statements/nights")
    }
  }
}
