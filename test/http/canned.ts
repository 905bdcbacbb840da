/** The answers of the stub services of the HTTP tests: one client, one report, one partner with two keys. */
import { hash } from "node:crypto"
import type { ClientWire, OnboardingResult } from "../../src/machines/client/ClientWire.ts"
import type { CollateralReport } from "../../src/machines/collateral/CollateralReport.ts"
import { accept } from "../../src/machines/shared/Refusal.ts"
import type { Requirements } from "../../src/machines/verification/requirements.ts"
import type { BalancesWire, LedgerPage } from "../../src/machines/account/AccountWire.ts"
import type { PartnerView } from "../../src/runtime/services/partners/Directory.ts"
import type { PartnerSummary } from "../../src/machines/client/PartnerSummary.ts"
import type { ApiKeyRow } from "../../src/runtime/tables/partner.ts"

export const keys = { trade: "pbk_trade", read: "pbk_read" } as const
export const clientId = 41
export const now = 1_795_132_800_000

const requirements: Requirements = {
  "TRADE:PERP": ["ACCOUNT_PURPOSE"],
  "TRADE:SPOT": [],
  "TRADE:BARRIER": ["ACCOUNT_PURPOSE"],
  "TRADE:STAKING": ["ACCOUNT_PURPOSE"],
  "DEPOSIT:CRYPTO": [],
  "WITHDRAW:CRYPTO": [],
  "DEPOSIT:FIAT": ["BANK_ACCOUNT"],
  "WITHDRAW:FIAT": ["BANK_ACCOUNT"]
}

export const clientWire: ClientWire = {
  clientId,
  clientUid: "CL-00000041",
  partnerClientRef: "ref 1/ä",
  email: "a@example.org",
  displayName: "Ada Example",
  verificationLevel: "MICA",
  lifecycleState: "ACTIVE",
  categorization: "RETAIL",
  riskState: null,
  cashUsdc: "12.500000",
  createdAt: now
}

export const onboarded: OnboardingResult = {
  clientId,
  clientUid: "CL-00000041",
  partnerClientRef: "ref 1/ä",
  verificationLevel: "MICA",
  lifecycleState: "ACTIVE",
  status: "ACTIVE",
  kycPackageId: 7,
  requirements,
  review: null
}

export const report: CollateralReport = {
  reportId: 5,
  partnerId: 1,
  clientId,
  clientUid: "CL-00000041",
  partnerRef: "c-1",
  direction: "DEPOSIT",
  currency: "USDC",
  amount: "12.500000",
  sourceAsset: "EURX",
  txRef: null,
  occurredAt: now,
  status: "BOOKED",
  refusal: "",
  ledgerTxId: 9,
  createdAt: now
}

export const collateralBooked = accept({
  status: 201 as const,
  data: {
    reportId: 5,
    status: "BOOKED" as const,
    ledgerTxId: 9,
    balances: { cash: "12.500000", reserved: "0.000000", free: "12.500000", freeMargin: "12.500000" },
    report
  }
})

export const balances: BalancesWire = {
  balances: [
    {
      currency: "USDC",
      kind: "CASH",
      cash: "12.500000",
      reserved: "0.000000",
      total: "12.500000",
      free: "12.500000",
      displayDecimals: 2,
      venueAsset: "USDC",
      equity: "12.500000",
      unrealizedPnl: "0.000000",
      freeMargin: "12.500000",
      mark: "1",
      markFresh: true,
      value: "12.500000",
      valueCurrency: "USDC",
      staked: "0.000000",
      swapClaims: "0.000000",
      stakedValue: "0.000000",
      claimsValue: "0.000000"
    }
  ],
  portfolioValue: "12.500000",
  portfolioCurrency: "USDC",
  portfolio: {
    cashTotal: "12.500000",
    reserved: "0.000000",
    holdingsValue: "0.000000",
    stakedValue: "0.000000",
    unrealizedPnl: "0.000000",
    claimsValue: "0.000000",
    holdingsValued: true,
    currency: "USDC"
  }
}

export const partner: PartnerView = {
  row: {
    id: 1,
    code: "ACME",
    name: "Acme",
    legalName: "Acme SA",
    country: "LU",
    licence: "MICA_CASP",
    sandbox: true,
    custodyModel: "PARTNER",
    collateralAsset: "EURX",
    uidPrefix: "CL",
    readPerMinute: 1_000_000,
    tradePerMinute: 1_000_000,
    allowedCidrs: [],
    epoch: 1,
    createdAt: now,
    state: "ACTIVE",
    version: "1",
    context: { partnerId: 1, reason: null, changedAt: now }
  },
  reliance: "APPROVED",
  endpoint: null
}

export const keyRow = (id: number, key: string, scope: "READ" | "TRADE"): ApiKeyRow => ({
  id,
  partnerId: 1,
  hash: hash("sha256", key, "hex"),
  prefix: key.slice(0, 10),
  label: `key ${id}`,
  scope,
  createdAt: now,
  state: "ACTIVE",
  version: "1",
  context: { keyId: id, createdAt: now, revokedAt: null, reason: null }
})

export const page = { hasMore: false, nextBefore: null }

export const summary: PartnerSummary = {
  asOf: now,
  clients: {
    total: 1,
    byState: { KYC_PENDING: 0, ACTIVE: 1, RESTRICTED: 0, KYC_REJECTED: 0, CLOSED: 0 },
    byLevel: { NONE: 0, MICA: 1, MICA_MIFID: 0 }
  },
  clientCash: [{ currency: "USDC" as const, cash: "12.500000", reserved: "0.000000", total: "12.500000" }],
  openBarriers: 0,
  openSwaps: 0,
  pendingDeposits: 0,
  pendingWithdrawals: 0,
  pendingReviews: 0
}

export const ledger: LedgerPage = {
  postings: [
    {
      postingId: 3,
      txId: 9,
      type: "PARTNER_COLLATERAL_IN",
      actor: "partner:ACME",
      reason: null,
      ts: now,
      amount: "12.500000",
      currency: "USDC" as const,
      kind: "cash" as const,
      refs: { reportId: 5 }
    }
  ],
  ...page
}
