/**
 * Confirmation questions. Each names object, client, amount, destination and requester, so that the operator can decide
 * without earlier output (operator surface, rules for every command).
 */
import { readNames } from "./names.ts"
import type { OperatorClient } from "./OperatorClient.ts"
import { approvalText } from "./views/approvals.ts"
import { cellText, escaped, plainScreen, unbroken } from "./views/cellText.ts"
import { asSent, type Cell } from "./views/View.ts"

export type Question = (api: OperatorClient) => Promise<string>

const plain = (cell: Cell): string => cellText(cell, plainScreen).replaceAll(unbroken, " ")

/** The client as text, "client ACM-00000006 (Ada Byron)", for any form in which the command line names the client. */
export const clientText = async (api: OperatorClient, client: string): Promise<string> => {
  const { clientUid, displayName } = (await api.client.show({ params: { client } })).data
  return escaped(`client ${clientUid} (${displayName})`)
}

export const aboutClient =
  (client: string, question: (called: string) => string): Question =>
  async (api) =>
    question(await clientText(api, client))

/** The request as text: "withdrawal request 3 of ACM-00000006, 32.50 USDC to iban X, bic Y". */
export const aboutWithdrawal =
  (requestId: string, question: (called: string) => string): Question =>
  async (api) => {
    const { data } = await api.withdrawal.show({ params: { requestId } })
    const to = data.destination === null ? "" : ` to ${plain(asSent(data.destination))}`
    return question(`withdrawal request ${data.requestId} of ${data.clientUid}, ${data.amount} ${data.currency}${to}`)
  }

/** The notice as text: "deposit notice 3 of ACM-00000006, 250.00 USDC". */
export const aboutDeposit =
  (noticeId: string, question: (called: string) => string): Question =>
  async (api) => {
    const { data } = await api.deposit.show({ params: { noticeId } })
    return question(`deposit notice ${data.noticeId} of ${data.clientUid}, ${data.amount} ${data.currency}`)
  }

/** The approval as text: "approval 17, withdrawal pay 2 of ACM-00000006, 32.50 USDC to iban X, requested by finance-1". */
export const aboutApproval =
  (approvalId: string, question: (called: string) => string): Question =>
  async (api) => {
    const { data } = await api.approval.show({ params: { approvalId } })
    const names = await readNames(api, new Set(["partner", "operator"] as const))
    const sentence = approvalText(data)
    return question(cellText(sentence, { ...plainScreen, names }).replaceAll(unbroken, " "))
  }
