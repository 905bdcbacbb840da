/**
 * Confirmation questions. Each names object, client, amount, destination and requester, so that the operator can decide
 * without earlier output (operator surface, rules for every command).
 */
import { Effect } from "effect"
import { readNames } from "./names.ts"
import type { OperatorClient } from "./OperatorClient.ts"
import { approvalText } from "./views/approvals.ts"
import { cellText, escaped, plainScreen, unbroken } from "./views/cellText.ts"
import { asSent, type Cell } from "./views/View.ts"

export type Question = (api: OperatorClient) => Effect.Effect<string, unknown>

const plain = (cell: Cell): string => cellText(cell, plainScreen).replaceAll(unbroken, " ")

/** The client as text, "client ACM-00000006 (Ada Byron)", for any form in which the command line names the client. */
export const clientText = (api: OperatorClient, client: string): Effect.Effect<string, unknown> =>
  Effect.map(api.client.show({ params: { client } }), ({ data: { clientUid, displayName } }) =>
    escaped(`client ${clientUid} (${displayName})`)
  )

export const aboutClient =
  (client: string, question: (called: string) => string): Question =>
  (api) =>
    Effect.map(clientText(api, client), question)

/** The request as text: "withdrawal request 3 of ACM-00000006, 32.50 USDC to iban X, bic Y". */
export const aboutWithdrawal =
  (requestId: string, question: (called: string) => string): Question =>
  (api) =>
    Effect.map(api.withdrawal.show({ params: { requestId } }), ({ data }) => {
      const to = data.destination === null ? "" : ` to ${plain(asSent(data.destination))}`
      return question(`withdrawal request ${data.requestId} of ${data.clientUid}, ${data.amount} ${data.currency}${to}`)
    })

/** The notice as text: "deposit notice 3 of ACM-00000006, 250.00 USDC". */
export const aboutDeposit =
  (noticeId: string, question: (called: string) => string): Question =>
  (api) =>
    Effect.map(api.deposit.show({ params: { noticeId } }), ({ data }) =>
      question(`deposit notice ${data.noticeId} of ${data.clientUid}, ${data.amount} ${data.currency}`)
    )

/** The approval as text: "approval 17, withdrawal pay 2 of ACM-00000006, 32.50 USDC to iban X, requested by finance-1". */
export const aboutApproval =
  (approvalId: string, question: (called: string) => string): Question =>
  (api) =>
    Effect.gen(function* () {
      const { data } = yield* api.approval.show({ params: { approvalId } })
      const names = yield* readNames(api, new Set(["partner", "operator"] as const))
      const sentence = approvalText(data)
      return question(cellText(sentence, { ...plainScreen, names }).replaceAll(unbroken, " "))
    })
