/** What an endpoint's sealed secret is bound to. */
export const webhookSecretSeal = (shopId: string, endpointId: string): string => `${shopId}/webhook-endpoint/${endpointId}`
