/**
 * Completes the symbol that operators and testers give: they may leave out the quote, which is USDC everywhere, so BTC-PERP is
 * BTC-USDC-PERP. Partners write symbols in full (operator surface, market and sim venue).
 */
export const fullSymbol = (given: string): string => given.replace(/^([A-Z0-9]+)-(PERP|KO)$/, "$1-USDC-$2")
