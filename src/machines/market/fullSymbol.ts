/**
 * The symbol that operators and testers mean: they may leave the quote out, which is USDC everywhere, so BTC-PERP is
 * BTC-USDC-PERP (operator surface, market and sim venue). Partners write symbols in full.
 */
export const fullSymbol = (given: string): string => given.replace(/^([A-Z0-9]+)-(PERP|KO)$/, "$1-USDC-$2")
