/**
 * The one list of machines: tests, diagrams, the atlas and `machine show` walk it, and the host runs what stands here.
 * A new machine is one folder and one entry (architecture: registry.ts).
 */
import type { AnyStateMachine, EventFrom, InputFrom, StateValueFrom } from "xstate"
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
import { reconBreakMachine } from "./reconciliation/reconBreakMachine.ts"
import { reconBreakInput, reconBreakSamples } from "./reconciliation/reconBreakSamples.ts"
import { blockMachine } from "./verification/blockMachine.ts"
import { blockInputs, blockSamples } from "./verification/blockSamples.ts"
import { deliveryMachine } from "./webhook/deliveryMachine.ts"
import { endpointMachine } from "./webhook/endpointMachine.ts"
import { deliveryInputs, deliverySamples, endpointInput, endpointSamples } from "./webhook/webhookSamples.ts"
import { withdrawalMachine } from "./withdrawal/withdrawalMachine.ts"
import { withdrawalInput, withdrawalSamples } from "./withdrawal/withdrawalSamples.ts"

/** What the registry knows of a machine beside the machine itself. */
export interface MachineEntry<M extends AnyStateMachine = AnyStateMachine> {
  readonly machine: M
  /** Events covering both sides of every guard. */
  readonly samples: ReadonlyArray<EventFrom<M>>
  /** Starting points; more than one where the input decides a guard or an effect. */
  readonly inputs: ReadonlyArray<InputFrom<M>>
  readonly title: string
  readonly meaning: string
  readonly clause: string
}

const entry = <M extends AnyStateMachine>(definition: MachineEntry<M>): MachineEntry<M> => definition

export const machines = {
  partner: entry({
    machine: partnerMachine,
    samples: partnerSamples,
    inputs: [partnerInput],
    title: "Partner",
    meaning: "Whether a partner firm's keys are accepted.",
    clause: "doc 1, Partner status; D15"
  }),
  reliance: entry({
    machine: relianceMachine,
    samples: relianceSamples,
    inputs: [relianceInput],
    title: "Reliance",
    meaning: "Whether the partner's KYC is relied upon, which opens the onboarding writes.",
    clause: "doc 1, Partner status; D16"
  }),
  apiKey: entry({
    machine: apiKeyMachine,
    samples: apiKeySamples,
    inputs: [apiKeyInput],
    title: "API key",
    meaning: "Whether one key of a partner or an operator is accepted.",
    clause: "doc 1, Authentication; D17"
  }),
  client: entry({
    machine: clientMachine,
    samples: clientSamples,
    inputs: [clientInput],
    title: "Client",
    meaning: "A client's lifecycle and verification level, with its restrictions and open cases.",
    clause: "doc 1, Client lifecycle and level; D1"
  }),
  kycPackage: entry({
    machine: kycMachine,
    samples: kycSamples,
    inputs: [kycInput],
    title: "KYC package",
    meaning: "The review of a client's latest KYC package.",
    clause: "doc 1, KYC package statuses; D2"
  }),
  verificationBlock: entry({
    machine: blockMachine,
    samples: blockSamples,
    inputs: blockInputs,
    title: "Verification block",
    meaning: "One of the twelve blocks that a client's level rests on.",
    clause: "doc 1, Block statuses; D3"
  }),
  assessment: entry({
    machine: assessmentMachine,
    samples: assessmentSamples,
    inputs: [assessmentInput],
    title: "Appropriateness assessment",
    meaning: "A client's latest attempt at the appropriateness test, and whether a level can rest on it.",
    clause: "doc 1, Appropriateness; D19"
  }),
  case: entry({
    machine: caseMachine,
    samples: caseSamples,
    inputs: [caseInput],
    title: "Compliance case",
    meaning: "A question that compliance must answer before a held client goes on.",
    clause: "doc 1, Client lifecycle and level; D1, D2"
  }),
  approval: entry({
    machine: approvalMachine,
    samples: approvalSamples,
    inputs: [approvalInput],
    title: "Approval",
    meaning: "A guarded operator command that waits for a second operator key.",
    clause: "operator surface, Four eyes"
  }),
  watchImport: entry({
    machine: watchImportMachine,
    samples: watchImportSamples,
    inputs: [watchImportInput],
    title: "Watch list import",
    meaning: "One version of a published watch list on its way into the service, or current there.",
    clause: "F26; operator surface, screening import"
  }),
  screeningPass: entry({
    machine: screeningPassMachine,
    samples: screeningPassSamples,
    inputs: screeningPassInputs,
    title: "Screening pass",
    meaning: "Stored clients on their way through the screening of this moment.",
    clause: "F26; operator surface, screening passes"
  }),
  depositNotice: entry({
    machine: depositMachine,
    samples: depositSamples,
    inputs: [depositInput],
    title: "Deposit notice",
    meaning: "The partner's word that it passed a client's money on, until finance confirms or rejects it.",
    clause: "doc 3, Deposit notice; D9"
  }),
  collateralReport: entry({
    machine: collateralMachine,
    samples: collateralSamples,
    inputs: collateralInputs,
    title: "Collateral report",
    meaning: "The partner's word that it received or paid out a client's money, booked or refused.",
    clause: "doc 3, Collateral report; D11"
  }),
  settlementItem: entry({
    machine: settlementMachine,
    samples: settlementSamples,
    inputs: [settlementInput],
    title: "Settlement item",
    meaning: "One economic result of a PARTNER-custody client, until the partner has settled it.",
    clause: "doc 3, Settlement item; F28; D12"
  }),
  withdrawalRequest: entry({
    machine: withdrawalMachine,
    samples: withdrawalSamples,
    inputs: [withdrawalInput],
    title: "Withdrawal request",
    meaning: "The partner's request that a client is paid out, reserved until finance has paid or rejected it.",
    clause: "doc 3, Withdrawal request; D10"
  }),
  reconBreak: entry({
    machine: reconBreakMachine,
    samples: reconBreakSamples,
    inputs: [reconBreakInput],
    title: "Reconciliation break",
    meaning: "A difference between the books and the outside that may pause money out until it is explained.",
    clause: "doc 3, Withdrawal request; A3-11"
  }),
  webhookEndpoint: entry({
    machine: endpointMachine,
    samples: endpointSamples,
    inputs: [endpointInput],
    title: "Webhook endpoint",
    meaning: "Whether a partner's events are queued and sent.",
    clause: "doc 3, Webhook registration and delivery; D13"
  }),
  webhookDelivery: entry({
    machine: deliveryMachine,
    samples: deliverySamples,
    inputs: deliveryInputs,
    title: "Webhook delivery",
    meaning: "One event on its way to the partner's endpoint.",
    clause: "doc 3, Webhook delivery; F29; D14"
  })
}

export type Kind = keyof typeof machines

/** The machine type of a kind. */
export type MachineOf<K extends Kind> = (typeof machines)[K]["machine"]
/** The state names of a kind as stored: NEW decides a creation and never reaches a row. */
export type StateOf<K extends Kind> = Exclude<Extract<StateValueFrom<MachineOf<K>>, string>, "NEW">

export const kinds = Object.keys(machines) as ReadonlyArray<Kind>

/** True for the name of a machine. */
export const isKind = (name: string): name is Kind => Object.hasOwn(machines, name)
