import type { Policies } from './index.ts'

const example = '<p><em>Example text: replace it before you sell.</em></p>'

export const en: Policies = {
  shipping: `${example}
    <p>Say where you ship to, with which carriers, and how long it takes. Shipping costs are shown at checkout before payment.</p>
    <h2>Tracking</h2><p>We email you a tracking number when your order ships.</p>`,
  returns: `${example}
    <p>Say how many days a customer has to return an item, in which condition, and who pays for the return.</p>
    <h2>Refunds</h2><p>We refund returns to the payment method of the order.</p>`,
  privacy: `${example}
    <p>We use your name, address and email to fulfil your order. We don’t use tracking cookies.</p>
    <h2>Your rights</h2><p>Say whom to ask for a copy of the data, or for its deletion.</p>`,
  terms: `${example}
    <p>Say who sells: company name, address, email and registration number.</p>
    <h2>Prices</h2><p>Say whether prices include tax.</p>`,
}
