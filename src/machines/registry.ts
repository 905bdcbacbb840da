/**
 * The one list of machines: tests, diagrams, the atlas and `machine show` use it, and the host runs its entries. A new machine
 * is one folder and one entry (architecture: registry.ts).
 */
import { assessmentMachine } from "./appropriateness/assessmentMachine.ts"
import { assessmentInput, assessmentSamples } from "./appropriateness/assessmentSamples.ts"
import { clientMachine } from "./client/clientMachine.ts"
import { clientInput, clientSamples } from "./client/clientSamples.ts"
import { collateralMachine } from "./collateral/collateralMachine.ts"
import { collateralInputs, collateralSamples } from "./collateral/collateralSamples.ts"
import { caseMachine } from "./compliance/caseMachine.ts"
import { caseInput, caseSamples } from "./compliance/caseSamples.ts"
import { depositMachine } from "./deposit/depositMachine.ts"
import { depositInput, depositSamples } from "./deposit/depositSamples.ts"
import { kycMachine } from "./kyc/kycMachine.ts"
import { kycInput, kycSamples } from "./kyc/kycSamples.ts"
import { approvalMachine } from "./operator/approvalMachine.ts"
import { approvalInput, approvalSamples } from "./operator/approvalSamples.ts"
import { apiKeyMachine } from "./partner/apiKeyMachine.ts"
import { apiKeyInput, apiKeySamples } from "./partner/apiKeySamples.ts"
import { partnerMachine } from "./partner/partnerMachine.ts"
import { partnerInput, partnerSamples } from "./partner/partnerSamples.ts"
import { relianceMachine } from "./partner/relianceMachine.ts"
import { relianceInput, relianceSamples } from "./partner/relianceSamples.ts"
import { screeningPassMachine } from "./screening/screeningPassMachine.ts"
import { screeningPassInputs, screeningPassSamples } from "./screening/screeningPassSamples.ts"
import { watchImportMachine } from "./screening/watchImportMachine.ts"
import { watchImportInput, watchImportSamples } from "./screening/watchImportSamples.ts"
import { settlementMachine } from "./settlement/settlementMachine.ts"
import { settlementInput, settlementSamples } from "./settlement/settlementSamples.ts"
import { statementMachine } from "./statement/statementMachine.ts"
import { statementInput, statementSamples } from "./statement/statementSamples.ts"
import { reconBreakMachine } from "./reconciliation/reconBreakMachine.ts"
import { reconBreakInput, reconBreakSamples } from "./reconciliation/reconBreakSamples.ts"
import { blockMachine } from "./verification/blockMachine.ts"
import { blockInputs, blockSamples } from "./verification/blockSamples.ts"
import { deliveryMachine } from "./webhook/deliveryMachine.ts"
import { endpointMachine } from "./webhook/endpointMachine.ts"
import { deliveryInputs, deliverySamples, endpointInput, endpointSamples } from "./webhook/webhookSamples.ts"
import { entry, unreached, operator, partner, type StoredStateOf } from "./registryEntry.ts"
import { tradingMachines } from "./tradingRegistry.ts"
import { withdrawalMachine } from "./withdrawal/withdrawalMachine.ts"
import { withdrawalInput, withdrawalSamples } from "./withdrawal/withdrawalSamples.ts"

export const machines = {
  partner: entry({
    machine: partnerMachine,
    samples: partnerSamples,
    inputs: [partnerInput],
    title: "Partner",
    meaning: "Whether a partner firm's keys are accepted.",
    clause: "doc 1, Partner status; D15",
    looks: { waiting: [], ended: ["CLOSED"], refused: ["SUSPENDED"] },
    reached: {
      ACTIVE: operator("`partner create`"),
      SUSPENDED: operator("`partner status P SUSPENDED --reason R`"),
      CLOSED: operator("`partner status P CLOSED --reason R`, once nothing is open")
    }
  }),
  reliance: entry({
    machine: relianceMachine,
    samples: relianceSamples,
    inputs: [relianceInput],
    title: "Reliance",
    meaning: "Whether the partner's KYC is relied upon, which opens the onboarding writes.",
    clause: "doc 1, Partner status; D16",
    looks: { waiting: ["REQUESTED"], ended: [], refused: ["SUSPENDED", "REVOKED"] },
    reached: {
      NONE: operator("`partner create`: a new partner has none"),
      REQUESTED: operator("`partner reliance P REQUESTED --reason R`"),
      APPROVED: operator("`partner reliance P APPROVED --reason R`"),
      SUSPENDED: operator("`partner reliance P SUSPENDED --reason R`"),
      REVOKED: operator("`partner reliance P REVOKED --reason R`")
    }
  }),
  apiKey: entry({
    machine: apiKeyMachine,
    samples: apiKeySamples,
    inputs: [apiKeyInput],
    title: "API key",
    meaning: "Whether one key of a partner or an operator is accepted.",
    clause: "doc 1, Authentication; D17",
    looks: { waiting: [], ended: [], refused: ["REVOKED"] },
    reached: {
      ACTIVE: operator("`key issue P --label L --scope TRADE`"),
      REVOKED: operator("`key revoke KEYID`")
    }
  }),
  client: entry({
    machine: clientMachine,
    samples: clientSamples,
    inputs: [clientInput],
    title: "Client",
    meaning: "A client's lifecycle and verification level, with its restrictions and open cases.",
    clause: "doc 1, Client lifecycle and level; D1",
    looks: { waiting: ["KYC_PENDING", "RESTRICTED"], ended: ["CLOSED"], refused: ["KYC_REJECTED"] },
    reached: {
      KYC_PENDING: partner("last name Sanctionlisted, Possiblematch or Politicallyexposed; or pep.is_pep true"),
      ACTIVE: partner("any name that is not published here; after a review: last name Clearedlater"),
      RESTRICTED: partner("last name Restrictedlater; or PUT .../kyc of an ACTIVE client to last name Sanctionlisted"),
      KYC_REJECTED: partner("last name Personrejected"),
      CLOSED: partner("last name Closedlater")
    }
  }),
  kycPackage: entry({
    machine: kycMachine,
    samples: kycSamples,
    inputs: [kycInput],
    title: "KYC package",
    meaning: "The review of a client's latest KYC package.",
    clause: "doc 1, KYC package statuses; D2",
    looks: { waiting: ["SPOT_CHECK", "DOCUMENTS_REQUESTED"], ended: [], refused: ["REJECTED"] },
    reached: {
      ACCEPTED: partner("any name that is not published here"),
      SPOT_CHECK: partner("last name Sanctionlisted"),
      DOCUMENTS_REQUESTED: partner("last name Documentsrequested"),
      REJECTED: partner("last name Reliancerejected")
    }
  }),
  verificationBlock: entry({
    machine: blockMachine,
    samples: blockSamples,
    inputs: blockInputs,
    title: "Verification block",
    meaning: "One of the twelve blocks that a client's level rests on.",
    clause: "doc 1, Block statuses; D3",
    looks: { waiting: ["DRAFT", "SUBMITTED"], ended: [], refused: ["REJECTED", "EXPIRED"] },
    reached: {
      NOT_STARTED: partner("APPROPRIATENESS of a new client"),
      DRAFT: unreached("direct clients alone leave drafts"),
      SUBMITTED: partner("APPROPRIATENESS after answers that give WARN or FAIL (`sim answers WARN`)"),
      APPROVED: partner("PERSONAL_INFO of a new client; PUT .../mifid for the MiFID blocks"),
      REJECTED: partner("last name Reliancerejected: all twelve"),
      EXPIRED: partner(
        "IDENTIFICATION two days after an identification.expiration_date of tomorrow (`sim clock advance 2d`)"
      )
    }
  }),
  assessment: entry({
    machine: assessmentMachine,
    samples: assessmentSamples,
    inputs: [assessmentInput],
    title: "Appropriateness assessment",
    meaning: "A client's latest attempt at the appropriateness test, and whether a level can rest on it.",
    clause: "doc 1, Appropriateness; D19",
    looks: { waiting: ["WARNED"], ended: [], refused: ["FAILED"] },
    reached: {
      IDLE: partner("last name Reliancerejected with answers sent before the rejection"),
      PASSED: partner("answers that give PASS (`sim answers PASS`)"),
      WARNED: partner("answers that give WARN (`sim answers WARN`)"),
      FAILED: partner("answers that give FAIL (`sim answers FAIL`)"),
      ACKNOWLEDGED: partner("answers that give WARN, then POST .../appropriateness/acknowledge")
    }
  }),
  case: entry({
    machine: caseMachine,
    samples: caseSamples,
    inputs: [caseInput],
    title: "Compliance case",
    meaning: "An open finding that compliance must decide before a held client continues.",
    clause: "doc 1, Client lifecycle and level; D1, D2",
    looks: { waiting: ["OPEN"], ended: ["CLEARED"], refused: ["REJECTED"] },
    reached: {
      OPEN: partner("last name Sanctionlisted"),
      CLEARED: partner("last name Clearedlater"),
      REJECTED: partner("last name Reliancerejected")
    }
  }),
  approval: entry({
    machine: approvalMachine,
    samples: approvalSamples,
    inputs: [approvalInput],
    title: "Approval",
    meaning: "A guarded operator command that waits for a second operator key.",
    clause: "operator surface, Four eyes",
    looks: { waiting: ["PENDING"], ended: ["GRANTED"], refused: ["REFUSED", "EXPIRED"] },
    reached: {
      PENDING: operator("a guarded command of a service with `serve --four-eyes CLASS`"),
      GRANTED: operator("`approval grant ID` with a second key"),
      REFUSED: operator("`approval refuse ID`"),
      EXPIRED: operator("an approval that waits longer than its time (`sim clock advance`)")
    }
  }),
  watchImport: entry({
    machine: watchImportMachine,
    samples: watchImportSamples,
    inputs: [watchImportInput],
    title: "Watch list import",
    meaning: "One version of a published watch list on its way into the service, or current there.",
    clause: "F26; operator surface, screening import",
    looks: { waiting: ["OPEN", "REMOVING"], ended: ["DONE", "REPLACED"], refused: ["ABANDONED"] },
    reached: {
      OPEN: operator("`screening import FILE`, until all of its entries are in"),
      REMOVING: operator("`screening import FILE`, until entries that it no longer names are removed"),
      DONE: operator("`screening import FILE`"),
      REPLACED: operator("`screening import FILE` of a later version of the same source"),
      ABANDONED: operator("`screening import FILE` of a source while another import of it is unfinished")
    }
  }),
  screeningPass: entry({
    machine: screeningPassMachine,
    samples: screeningPassSamples,
    inputs: screeningPassInputs,
    title: "Screening pass",
    meaning: "A walk through the stored clients that screens them again.",
    clause: "F26; operator surface, screening passes",
    looks: { waiting: ["RUNNING"], ended: ["DONE", "REPLACED"], refused: [] },
    reached: {
      RUNNING: operator("`screening add` or `screening import FILE`, until all clients are screened"),
      DONE: operator("`screening add`, or the next night (`sim clock advance 1d`)"),
      REPLACED: operator("`screening add`, when the night comes before all clients are screened")
    }
  }),
  depositNotice: entry({
    machine: depositMachine,
    samples: depositSamples,
    inputs: [depositInput],
    title: "Deposit notice",
    meaning: "The partner's report that it passed a client's money on, until finance confirms or rejects it.",
    clause: "doc 3, Deposit notice; D9",
    looks: { waiting: ["PENDING"], ended: ["CONFIRMED"], refused: ["REJECTED"] },
    reached: {
      PENDING: partner("POST .../deposits, of a partner under BROKER custody without the sandbox mark"),
      CONFIRMED: partner("POST .../deposits, of a sandbox partner under BROKER custody: confirmed in the call"),
      REJECTED: operator("`deposit reject ID --reason R` of a PENDING notice")
    }
  }),
  collateralReport: entry({
    machine: collateralMachine,
    samples: collateralSamples,
    inputs: collateralInputs,
    title: "Collateral report",
    meaning: "The partner's report that it received or paid out a client's money, booked or refused.",
    clause: "doc 3, Collateral report; D11",
    looks: { waiting: [], ended: ["BOOKED"], refused: ["REFUSED"] },
    reached: {
      BOOKED: partner("POST .../collateral, DEPOSIT of any allowed amount"),
      REFUSED: partner("POST .../collateral, WITHDRAWAL of more than the client has")
    }
  }),
  settlementItem: entry({
    machine: settlementMachine,
    samples: settlementSamples,
    inputs: [settlementInput],
    title: "Settlement item",
    meaning: "One economic result of a PARTNER-custody client, until the partner has settled it.",
    clause: "doc 3, Settlement item; F28; D12",
    looks: { waiting: ["PENDING"], ended: ["SETTLED"], refused: ["FAILED"] },
    reached: {
      PENDING: partner("last name Creditedlater, of a partner under PARTNER custody"),
      FAILED: partner("POST /settlement/items/{itemId}/report with status FAILED, for a PENDING item"),
      SETTLED: partner("POST /settlement/items/{itemId}/report with status SETTLED, for a PENDING or FAILED item")
    }
  }),
  withdrawalRequest: entry({
    machine: withdrawalMachine,
    samples: withdrawalSamples,
    inputs: [withdrawalInput],
    title: "Withdrawal request",
    meaning: "The partner's request that a client is paid out, reserved until finance has paid or rejected it.",
    clause: "doc 3, Withdrawal request; D10",
    looks: { waiting: ["REQUESTED", "APPROVED"], ended: ["PAID", "CANCELLED"], refused: ["REJECTED"] },
    reached: {
      REQUESTED: partner("POST .../withdrawals of a partner without the sandbox flag, under BROKER custody"),
      APPROVED: operator("`withdrawal approve ID`, for a REQUESTED request"),
      PAID: partner("POST .../withdrawals of a sandbox partner under BROKER custody; else `withdrawal pay ID`"),
      REJECTED: operator("`withdrawal reject ID --reason R`; after an approval `withdrawal fail ID --reason R`"),
      CANCELLED: partner("POST .../withdrawals/{rid}/cancel, for a REQUESTED request")
    }
  }),
  reconBreak: entry({
    machine: reconBreakMachine,
    samples: reconBreakSamples,
    inputs: [reconBreakInput],
    title: "Reconciliation break",
    meaning: "A difference between the books and the outside that may pause money out until it is explained.",
    clause: "doc 3, Withdrawal request; A3-11",
    looks: { waiting: ["OPEN"], ended: ["CLOSED"], refused: [] },
    reached: {
      OPEN: operator("`break open --scope ALL --currency USDC --amount D --reason R`"),
      CLOSED: operator("`break close ID --reason R`")
    }
  }),
  ...tradingMachines,
  statement: entry({
    machine: statementMachine,
    samples: statementSamples,
    inputs: [statementInput],
    title: "Statement",
    meaning: "The report of a client's account over a period, kept for ever; a correction is a new version.",
    clause: "doc 2, Statements; D20",
    looks: { waiting: [], ended: ["SUPERSEDED"], refused: [] },
    reached: {
      GENERATED: partner("POST .../statements"),
      SUPERSEDED: operator("`statement correct ID --reason R`, where today's facts and rules give other content")
    }
  }),
  webhookEndpoint: entry({
    machine: endpointMachine,
    samples: endpointSamples,
    inputs: [endpointInput],
    title: "Webhook endpoint",
    meaning: "Whether a partner's events are queued and sent.",
    clause: "doc 3, Webhook registration and delivery; D13",
    looks: { waiting: [], ended: ["INACTIVE"], refused: [] },
    reached: {
      ACTIVE: partner("PUT /webhook"),
      INACTIVE: partner("DELETE /webhook")
    }
  }),
  webhookDelivery: entry({
    machine: deliveryMachine,
    samples: deliverySamples,
    inputs: deliveryInputs,
    title: "Webhook delivery",
    meaning: "One event on its way to the partner's endpoint.",
    clause: "doc 3, Webhook delivery; F29; D14",
    looks: { waiting: ["PENDING", "RETRYING"], ended: ["SENT"], refused: ["FAILED"] },
    reached: {
      PENDING: partner("any event, until its first attempt"),
      RETRYING: partner("an endpoint that answers 500 (`sim partner listen --fail 1`)"),
      SENT: partner("an endpoint that answers 204"),
      FAILED: partner("an endpoint that answers 500 to ten attempts (`sim partner listen --fail 10`)")
    }
  })
}

export type Kind = keyof typeof machines

/** The machine of a kind with its own types, so that code for one kind knows its events and its context. */
export type MachineOf<K extends Kind> = (typeof machines)[K]["machine"]
/** The state names of a kind as stored. */
export type StateOf<K extends Kind> = StoredStateOf<MachineOf<K>>

export const kinds = Object.keys(machines) as ReadonlyArray<Kind>

/** True for the name of a machine. */
export const isKind = (name: string): name is Kind => Object.hasOwn(machines, name)
