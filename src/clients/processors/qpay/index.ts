import { apiUrl, publicKey, secret, setting, token } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { createQpay, qpayCapabilities } from './client.ts'

export const qpay = {
  fields: {
    invoiceCode: { isPublic: true, description: 'what payment pages begin with' },
    username: { isText: true, description: 'the name of its login' },
    password: { isText: true, description: 'of its login' },
  },
  required: ['username', 'password', 'invoiceCode'],
  identity: ['username', 'invoiceCode'],
  proof: { names: 'username, password', why: 'QPay does not know these' },
  pageKey: 'invoiceCode',
  signsNothing: true,
  modeIsAsked: true,
  hosts: { TEST: 'https://merchant-sandbox.qpay.mn/v2', LIVE: 'https://merchant.qpay.mn/v2' },
  settings: {
    QPAY_USERNAME: setting('qpayUsername', 'text', undefined, 'User name at QPay (Mongolia)', token),
    QPAY_PASSWORD: secret('qpayPassword', 'text', 'Password at QPay', token),
    QPAY_INVOICE_CODE: setting(
      'qpayInvoiceCode',
      'text',
      undefined,
      "QPay's code of the invoices, which payment pages are told",
      publicKey,
    ),
    QPAY_API_URL: setting('qpayApiUrl', 'URL', 'https://merchant.qpay.mn/v2', "Where QPay's API is; its sandbox is of mode TEST", apiUrl),
  },
  supportsCurrency: qpayCapabilities.supportsCurrency,
  create: createQpay,
} as const satisfies ProcessorDefinition
