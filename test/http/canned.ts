/** What the stub services of the HTTP tests answer: one client, one report, one partner with two keys. */
import { hash } from "node:crypto"
import type { AcknowledgeResult, AssessmentResult } from "../../src/machines/appropriateness/Assessment.ts"
import {
  type ClientWire,
  type MifidResult,
  noAssessment,
  type OnboardingResult,
  type VerificationView
} from "../../src/machines/client/ClientWire.ts"
import type { WithdrawalRequest } from "../../src/machines/withdrawal/WithdrawalRequest.ts"
import type { DepositNotice } from "../../src/machines/deposit/DepositNotice.ts"
import type { CollateralReport } from "../../src/machines/collateral/CollateralReport.ts"
import type { Document, UploadedDocument } from "../../src/machines/document/Document.ts"
import type { KycPackageView, ReonboardingResult } from "../../src/machines/kyc/KycWire.ts"
import type { SettlementItem } from "../../src/machines/settlement/SettlementItem.ts"
import { accept } from "../../src/machines/shared/Refusal.ts"
import type { Requirements } from "../../src/machines/verification/requirements.ts"
import type { BalancesWire, LedgerPage } from "../../src/machines/account/AccountWire.ts"
import type { PartnerView } from "../../src/runtime/services/partner/Directory.ts"
import type { PartnerSummary } from "../../src/machines/partner/PartnerSummary.ts"
import type { ApiKeyRow } from "../../src/runtime/store/tables/partner.ts"

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

export const kycUpdated: ReonboardingResult = {
  clientId,
  clientUid: "CL-00000041",
  partnerClientRef: "ref 1/ä",
  kycPackageId: 7,
  revision: 2,
  status: "SPOT_CHECK",
  verificationLevel: "NONE",
  lifecycleState: "KYC_PENDING",
  identityChanged: true,
  screening: "PENDING_REVIEW",
  reonboarded: true,
  grant: "PENDING_REVIEW",
  review: { reason: "SCREENING_HIT", caseId: 3 },
  requirements
}

export const kycPackage: KycPackageView = {
  kycPackageId: 7,
  partnerId: 1,
  clientId,
  clientUid: "CL-00000041",
  revision: 2,
  status: "REJECTED",
  receivedAt: now,
  payload: { fatca: { us_person_status: false } },
  attestation: { riskRating: "LOW" },
  reviewedBy: "COMPLIANCE",
  reviewedAt: now,
  reviewNote: "The identity session is missing."
}

export const verification: VerificationView = {
  clientId,
  clientUid: "CL-00000041",
  partnerClientRef: "ref 1/ä",
  level: "MICA",
  lifecycleState: "ACTIVE",
  blocks: [
    {
      code: "PERSONAL_INFO",
      level: "MICA",
      status: "APPROVED",
      decidedBy: "PARTNER",
      decidedAt: now,
      reason: null,
      updatedAt: now
    }
  ],
  requirements,
  appropriateness: noAssessment,
  kycPackage: { kycPackageId: 7, revision: 1, status: "ACCEPTED", reviewNote: null }
}

export const assessmentResult: AssessmentResult = {
  version: 1,
  outcome: "WARN",
  score: 65,
  requiresAcknowledgement: true,
  retakeAt: now + 86_400_000,
  attempt: 1,
  verificationLevel: "MICA",
  granted: false
}

export const acknowledgeResult: AcknowledgeResult = {
  acknowledgedAt: now,
  attestedAt: now - 1,
  outcome: "WARN",
  verificationLevel: "MICA_MIFID",
  granted: true
}

export const mifidResult: MifidResult = {
  clientId,
  clientUid: "CL-00000041",
  verificationLevel: "MICA",
  lifecycleState: "ACTIVE",
  granted: false,
  appropriateness: noAssessment,
  requirements
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

export const depositNotice: DepositNotice = {
  noticeId: 31,
  partnerId: 1,
  clientId,
  clientUid: report.clientUid,
  partnerRef: "d-1",
  currency: "EUR",
  amount: "12.50",
  method: "FIAT",
  evidenceRef: null,
  status: "PENDING",
  createdAt: now,
  decidedBy: null,
  decidedAt: null,
  decisionNote: null,
  ledgerTxId: null
}

export const withdrawalRequest: WithdrawalRequest = {
  requestId: 41,
  partnerId: 1,
  clientId,
  clientUid: report.clientUid,
  partnerRef: "w-1",
  currency: "EUR",
  amount: "12.50",
  destination: { iban: "DE02" },
  status: "REQUESTED",
  createdAt: now,
  decidedBy: null,
  decidedAt: null,
  paidAt: null,
  decisionNote: null,
  ledgerTxId: null
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

export const uploaded: UploadedDocument = {
  documentId: 8,
  type: "passport",
  purpose: "identity",
  filename: "passport.png",
  mimeType: "image/png",
  sizeBytes: 100,
  uploadedAt: now,
  source: "PARTNER"
}

export const document: Document = {
  documentId: 8,
  type: "passport",
  side: null,
  filename: "passport.png",
  mimeType: "image/png",
  sizeBytes: 100,
  uploadedAt: now,
  deletedAt: null,
  source: "PARTNER"
}

export const item: SettlementItem = {
  itemId: 6,
  clientId,
  clientUid: "CL-00000041",
  partnerClientRef: "ref 1/ä",
  type: "MANUAL",
  currency: "USDC",
  amount: "-1.500000",
  refs: { adjustmentId: 9, reference: "fix" },
  occurredAt: now,
  status: "SETTLED",
  partnerTxRef: "tx-1",
  settledAt: now,
  reportedAt: now,
  note: null,
  ledgerTxId: 9,
  createdAt: now
}

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

export const webhookState = {
  url: "https://hooks.example.org/events",
  active: true,
  createdAt: now,
  updatedAt: now,
  lastDeliveryAt: null,
  pending: 1
} as const

export const webhookRegistered = {
  url: webhookState.url,
  secret: `whs_${"A".repeat(43)}`,
  active: true,
  createdAt: now,
  updatedAt: now
} as const

export const delivery = {
  deliveryId: 9,
  event: "webhook.test",
  clientId: null,
  clientUid: null,
  status: "RETRYING",
  attempts: 1,
  lastStatus: 500,
  error: "The endpoint answered 500.",
  ts: now,
  sentAt: null,
  nextAt: now + 10_000
} as const
