/**
 * Resolves the ids of a view to names (codes of partners, labels of operator keys). The names are queried once, and only if
 * the view needs them.
 */
import { orElse } from "./CliIo.ts"
import type { OperatorClient } from "./OperatorClient.ts"
import type { Names } from "./views/cellText.ts"
import { Named, type View, RichText } from "./views/View.ts"

export const noNames: Names = { partner: new Map(), operator: new Map() }

/** The kinds of names that a view needs. */
export const namesIn = (view: View): ReadonlySet<Named["kind"]> => {
  const found = new Set<Named["kind"]>()
  const visit = (each: View): void => {
    if (each.kind === "stack") return each.views.forEach(visit)
    const cells =
      each.kind === "table" ? each.rows.flat() : each.kind === "fields" ? each.fields.map(([, cell]) => cell) : []
    for (const cell of [...cells, ...(each.kind === "text" ? [each.text] : [])])
      for (const part of cell instanceof RichText ? cell.parts : [cell]) if (part instanceof Named) found.add(part.kind)
  }
  visit(view)
  return found
}

/** The names of the needed kinds. Where the service refuses the query, the view shows ids. */
export const readNames = async (api: OperatorClient, kinds: ReadonlySet<Named["kind"]>): Promise<Names> => ({
  partner: kinds.has("partner") ? await orElse(partnerCodes(api), noNames.partner) : noNames.partner,
  operator: kinds.has("operator") ? await orElse(operatorLabels(api), noNames.operator) : noNames.operator
})

const partnerCodes = async (api: OperatorClient): Promise<Names["partner"]> =>
  new Map((await api.partner.list()).data.partners.map(({ partnerId, code }) => [partnerId, code]))

const operatorLabels = async (api: OperatorClient): Promise<Names["operator"]> =>
  new Map((await api.operator.list()).data.operators.map(({ operatorId, label }) => [operatorId, label]))
