import { apiUrl, publicKey, secret, setting, token } from '../../../settings/kinds.ts'
import type { ProcessorDefinition } from '../definition.ts'
import { createQpay, qpayCapabilities } from './client.ts'

export const qpay = {
  fields: {
    invoiceCode: { isPublic: true, description: 'invoice code' },
    username: { isText: true, description: 'user name' },
    password: { isText: true, description: 'password' },
  },
  // QPay sends the login with the contract, and calls the URL of each invoice.
  setup: { keys: [] },
  required: ['username', 'password', 'invoiceCode'],
  identity: ['username', 'invoiceCode'],
  proof: { names: 'username, password', why: 'QPay rejects these' },
  pageKey: 'invoiceCode',
  signsNothing: true,
  modeIsAsked: true,
  hosts: { TEST: 'https://merchant-sandbox.qpay.mn/v2', LIVE: 'https://merchant.qpay.mn/v2' },
  settings: {
    QPAY_USERNAME: setting('qpayUsername', 'text', undefined, 'User name at QPay (Mongolia)', token),
    QPAY_PASSWORD: secret('qpayPassword', 'text', 'Password at QPay', token),
    QPAY_INVOICE_CODE: setting('qpayInvoiceCode', 'text', undefined, 'Invoice code at QPay', publicKey),
    QPAY_API_URL: setting('qpayApiUrl', 'URL', 'https://merchant.qpay.mn/v2', 'URL of the QPay API; the sandbox is test mode', apiUrl),
  },
  supportsCurrency: qpayCapabilities.supportsCurrency,
  create: createQpay,
} as const satisfies ProcessorDefinition
