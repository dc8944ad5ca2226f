/** Divides and rounds half-even, so that rounding errors do not add up in one direction. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  if (denominator < 0n) return divideHalfEven(-numerator, -denominator)
  if (numerator < 0n) return -divideHalfEven(-numerator, denominator)
  const quotient = numerator / denominator
  const twiceRest = 2n * (numerator % denominator)
  const up = twiceRest > denominator || (twiceRest === denominator && quotient % 2n === 1n)
  return up ? quotient + 1n : quotient
}

/** Computes `amount × numerator / denominator` in minor units, exactly rounded half-even. */
export function multiplyHalfEven(amount: number, numerator: number, denominator: number): number {
  const product = amount * numerator
  // Small products are exact as floats, which is the common case.
  if (!(product >= 0 && product <= Number.MAX_SAFE_INTEGER && denominator > 0 && 2 * denominator <= Number.MAX_SAFE_INTEGER))
    return Number(divideHalfEven(BigInt(amount) * BigInt(numerator), BigInt(denominator)))
  const rest = product % denominator
  const quotient = (product - rest) / denominator
  const up = 2 * rest > denominator || (2 * rest === denominator && quotient % 2 === 1)
  return up ? quotient + 1 : quotient
}
