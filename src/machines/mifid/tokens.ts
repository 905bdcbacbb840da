/** The tokens of the MiFID blocks, in the specification's order (doc 1, MiFID blocks). */
export const purposes = [
  "long_term_investment",
  "short_term_speculation",
  "hedging",
  "income_generation",
  "portfolio_diversification",
  "professional_trading",
  "other"
] as const

/** The statuses that require industry, position and employer. */
export const employedStatuses = ["employed_full_time", "employed_part_time", "self_employed"] as const
export const employmentStatuses = [
  ...employedStatuses,
  "unemployed",
  "retired",
  "student",
  "homemaker",
  "other"
] as const

export const industries = [
  "agriculture_forestry",
  "automotive",
  "banking_financial",
  "construction_real_estate",
  "consulting",
  "defense_aerospace",
  "education",
  "energy_utilities",
  "entertainment_media",
  "government_public",
  "healthcare_pharma",
  "hospitality_tourism",
  "information_technology",
  "insurance",
  "legal_services",
  "manufacturing",
  "mining_metals",
  "non_profit",
  "retail_consumer",
  "shipping_logistics",
  "telecommunications",
  "transportation",
  "other"
] as const

export const positions = [
  "entry_level",
  "mid_level",
  "senior",
  "manager",
  "director",
  "vice_president",
  "c_suite",
  "board_member",
  "owner_founder",
  "other"
] as const

export const annualIncomes = [
  "lt_10k",
  "10k_25k",
  "25k_50k",
  "50k_100k",
  "100k_250k",
  "250k_500k",
  "500k_1m",
  "gt_1m"
] as const
export const netWorths = ["lt_50k", "50k_100k", "100k_250k", "250k_500k", "500k_1m", "1m_5m", "gt_5m"] as const
export const expectedDeposits = ["lt_5k", "5k_10k", "10k_25k", "25k_50k", "50k_100k", "100k_500k", "gt_500k"] as const

export const incomeSources = [
  "employment_salary",
  "business_income",
  "investments",
  "trust_income",
  "rental_income",
  "pension_retirement",
  "government_benefits",
  "family_support",
  "other"
] as const
export const fundsSources = [
  ...incomeSources,
  "inheritance_gift",
  "savings",
  "property_sale",
  "business_sale",
  "insurance_payout",
  "legal_settlement"
] as const
export const wealthSources = [
  "employment_income",
  "business_profits",
  "investment_returns",
  "property_ownership",
  "inheritance",
  "family_wealth",
  "sale_of_assets",
  "legal_settlement",
  "other"
] as const
