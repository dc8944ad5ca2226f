/** A quotient as a whole number, exactly rounded; halves go to the even neighbour, so that many of them do not add up one way. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  if (denominator < 0n) return divideHalfEven(-numerator, -denominator)
  if (numerator < 0n) return -divideHalfEven(-numerator, denominator)
  const quotient = numerator / denominator
  const twiceRest = 2n * (numerator % denominator)
  const up = twiceRest > denominator || (twiceRest === denominator && quotient % 2n === 1n)
  return up ? quotient + 1n : quotient
}

/** `amount × numerator / denominator` in minor units, exactly rounded half-even. */
export const shareOf = (amount: number, numerator: number, denominator: number): number =>
  Number(divideHalfEven(BigInt(amount) * BigInt(numerator), BigInt(denominator)))
