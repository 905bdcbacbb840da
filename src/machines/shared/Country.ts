/**
 * ISO 3166-1 alpha-2: the 249 officially assigned codes, and the members of the European Economic Area. The list is written
 * out, because libraries also accept reserved or user-assigned codes (UK, EL, XK) (doc 1, Onboarding request; A1-14, ISO-001,
 * F27, A1-17).
 */

const assigned = `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ
  BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
  CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ
  DE DJ DK DM DO DZ
  EC EE EG EH ER ES ET
  FI FJ FK FM FO FR
  GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY
  HK HM HN HR HT HU
  ID IE IL IM IN IO IQ IR IS IT
  JE JM JO JP
  KE KG KH KI KM KN KP KR KW KY KZ
  LA LB LC LI LK LR LS LT LU LV LY
  MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ
  NA NC NE NF NG NI NL NO NP NR NU NZ
  OM
  PA PE PF PG PH PK PL PM PN PR PS PT PW PY
  QA
  RE RO RS RU RW
  SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ
  TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
  UA UG UM US UY UZ
  VA VC VE VG VI VN VU
  WF WS
  YE YT
  ZA ZM ZW
`

/** The 249 officially assigned alpha-2 codes. */
export const countryCodes: ReadonlySet<string> = new Set(assigned.trim().split(/\s+/))

/** True for an officially assigned code in upper case. */
export const isCountry = (code: string): boolean => countryCodes.has(code)

/** European Economic Area: the 27 member states of the Union, Iceland, Liechtenstein, Norway. */
export const eeaCountries: ReadonlySet<string> = new Set(
  "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK".split(" ")
)

/** The default jurisdictions whose residents are not onboarded. */
export const defaultBlockedJurisdictions: ReadonlySet<string> = new Set([
  "US",
  "KP",
  "IR",
  "MM",
  "SY",
  "CU",
  "RU",
  "UA"
])
