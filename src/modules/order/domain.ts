/** What the sealed payment token of a checkout is bound to. */
export const paymentTokenSeal = (paymentId: string): string => `payment/${paymentId}`
