/** A complete, valid body of PUT .../mifid: simulators and tests send it (doc 1, MiFID blocks). */
export const sampleMifid = () => ({
  accountPurpose: { primary_purpose: "portfolio_diversification" },
  employmentFinancial: {
    employment_status: "employed_full_time",
    industry: "information_technology",
    position: "senior",
    employer_name: "Example Works",
    annual_income: "50k_100k",
    net_worth: "100k_250k",
    expected_deposit_12m: "10k_25k"
  },
  sourceOfWealth: {
    income_sources: ["employment_salary"],
    funds_sources: ["employment_salary", "savings"],
    wealth_sources: ["employment_income"]
  },
  declarationsMifid: {
    order_execution_policy_consent: true,
    complex_products_risk_acknowledged: true,
    client_categorisation_notice_acknowledged: true
  }
})
