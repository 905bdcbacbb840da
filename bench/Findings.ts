/** All findings of one benchmark run as plain data, for the report. */
import type { ContractFindings } from "./contracts/section.ts"
import type { MarketFindings } from "./markets/section.ts"
import type { MoneyFindings } from "./money/moneyRounds.ts"
import type { OnboardingFindings } from "./onboarding/onboardingRounds.ts"
import type { MarginFindings } from "./margin/marginRounds.ts"
import type { CommandFindings } from "./commands/commandRounds.ts"
import type { FairnessFindings } from "./fairness/fairnessRounds.ts"
import type { OrderFindings } from "./orders/orderRounds.ts"
import type { ProfileReport } from "./profile.ts"
import type { BatchSizes, Rows, Spread } from "./rounds.ts"
import type { ScreeningFindings } from "./screening/screeningRounds.ts"
import type { StakingFindings } from "./staking/stakingRounds.ts"
import type { StatementFindings } from "./statements/statementRounds.ts"
import type { TransitionCost } from "./transitionCost.ts"
import type { WebhookFindings } from "./webhooks/webhookRounds.ts"

export interface Environment {
  readonly processor: string
  readonly cores: number
  readonly memoryGigabytes: number
  readonly node: string
  readonly postgres: string
  /** Settings of the PostgreSQL server that all systems share. */
  readonly settings: ReadonlyArray<readonly [string, string]>
}

export interface Reports {
  readonly connections: number
  readonly rows: Rows
  readonly batches: BatchSizes
}

export interface Shares {
  readonly profile: ProfileReport
  /** Requests answered inside the profiled window. */
  readonly requests: number
  /** Processor time of PostgreSQL per request, microseconds. */
  readonly databaseMicros: number
}

export interface StoredHouse {
  readonly clients: number
  readonly readyMillis: number
  readonly idleMegabytes: number
  readonly readClients: number
  readonly readMegabytes: number
}

export interface Findings {
  readonly quick: boolean
  readonly environment: Environment
  readonly sliceMillis: number
  readonly rounds: number
  readonly clients: number
  readonly firstReadyMillis: number
  readonly laterReady: Spread
  /** Clients onboarded per second over HTTP, 32 at a time. */
  readonly onboardingRate: number
  readonly freshMegabytes: number
  readonly loadedMegabytes: number
  readonly reports: ReadonlyArray<Reports>
  readonly reads: { readonly connections: number; readonly rows: Rows }
  /** Cores that programs outside of the benchmark kept busy during the slices. */
  readonly otherCores: Spread
  readonly shares: Shares
  readonly transition: TransitionCost
  readonly house: StoredHouse
  readonly webhooks: WebhookFindings
  readonly onboarding: OnboardingFindings
  readonly screening: ScreeningFindings
  readonly money: MoneyFindings
  readonly markets: MarketFindings
  /** Measured by itself only (--only contracts). */
  readonly contracts?: ContractFindings
  /** Measured by itself only (--only orders). */
  readonly orders?: OrderFindings
  /** Measured by itself only (--only margin). */
  readonly margin?: MarginFindings
  /** Measured by itself only (--only staking). */
  readonly staking?: StakingFindings
  /** Measured by itself only (--only statements). */
  readonly statements?: StatementFindings
  /** Measured only on request (--only fairness). */
  readonly fairness?: FairnessFindings
  /** Measured only on request (--only cli). */
  readonly cli?: CommandFindings
  /** Reports that the service acknowledged. All of them were found booked. */
  readonly acknowledged: number
}
