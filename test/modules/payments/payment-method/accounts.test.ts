/** The public part of the instance's processor accounts, and how a shop's accounts replace them. */
import { describe, expect, test } from 'bun:test'
import { parseConfig } from '../../../../src/config.ts'
import {
  instanceAccountsOf,
  payableFor,
  publicAccountsOf,
  withShopAccounts,
} from '../../../../src/modules/payments/payment-method/accounts.ts'
import { hostsIn } from '../../../../src/modules/payments/processor-account/index.ts'
import { processorSettings } from '../../../support/processor-settings.ts'

const accountsIn = (env: Record<string, string>, mode: 'TEST' | 'LIVE' = 'TEST') => instanceAccountsOf(parseConfig(env), mode)
describe("the instance's accounts", () => {
  test('the instance has no accounts without settings', () => {
    expect(accountsIn({})).toEqual({})
  })

  test('an account of the instance shows its publishable values, mode and host, and no secret', () => {
    const config = parseConfig(processorSettings)
    expect(publicAccountsOf(config, 'TEST')).toEqual({
      stripe: { mode: 'TEST', publishableKey: 'pk_test_stripe', merchantId: undefined },
      tap: { mode: 'TEST', publishableKey: 'pk_test_tap', merchantId: '599424' },
      checkout: { mode: 'TEST', publishableKey: 'pk_sbox_checkout', merchantId: undefined },
      qpay: { mode: 'TEST', publishableKey: 'SOUK_INVOICE' },
      paypal: { mode: 'TEST', publishableKey: 'paypal-client' },
      btcpay: { mode: 'TEST', publishableKey: undefined },
    })
    const accounts = instanceAccountsOf(config, 'TEST')
    expect(JSON.stringify(accounts)).not.toContain('SECRET')
    expect(Object.values(accounts).map(({ canPay }) => canPay)).toEqual([true, true, true, true, true, true])
    expect(hostsIn(config)).toEqual({
      stripe: 'api.stripe.com',
      tap: 'api.tap.company',
      checkout: 'api.sandbox.checkout.com',
      qpay: 'merchant-sandbox.qpay.mn',
      paypal: 'api-m.sandbox.paypal.com',
      btcpay: 'pay.shop.example',
    })
    expect(hostsIn(parseConfig({ STRIPE_API_URL: 'http://127.0.0.1:4711/x' }))).toMatchObject({
      stripe: '127.0.0.1:4711',
      checkout: 'api.checkout.com',
    })
  })

  test('the mode of an account is that of its key; if the key has none, that of the host', () => {
    const modes = (env: Record<string, string>) => Object.values(accountsIn(env)).map(({ account }) => account.mode)
    expect(modes({ STRIPE_PUBLISHABLE_KEY: 'pk_live_a', STRIPE_API_URL: 'http://127.0.0.1:1' })).toEqual(['LIVE'])
    expect(modes({ STRIPE_SECRET_KEY: 'rk_test_a' })).toEqual(['TEST'])
    expect(modes({ CHECKOUT_PUBLISHABLE_KEY: 'pk_sbox_a', CHECKOUT_API_URL: 'https://abc.api.checkout.com' })).toEqual(['TEST'])
    expect(modes({ CHECKOUT_PUBLISHABLE_KEY: 'pk_a' })).toEqual(['LIVE'])
    expect(modes({ CHECKOUT_PUBLISHABLE_KEY: 'pk_a', CHECKOUT_API_URL: 'https://abc.api.sandbox.checkout.com' })).toEqual(['TEST'])
    expect(modes({ QPAY_INVOICE_CODE: 'A' })).toEqual(['LIVE'])
    expect(modes({ QPAY_INVOICE_CODE: 'A', QPAY_API_URL: 'http://localhost:4711/v2' })).toEqual(['TEST'])
    expect(modes({ QPAY_INVOICE_CODE: 'A', QPAY_API_URL: 'https://sandboxes.example' })).toEqual(['LIVE'])
    expect(modes({ PAYPAL_CLIENT_ID: 'A', PAYPAL_SECRET: 'B' })).toEqual(['LIVE'])
  })

  test("the mode of the instance's BTCPay server is the mode of the requesting shop", () => {
    const env = { BTCPAY_API_URL: 'https://pay.example', BTCPAY_STORE_ID: 'A', BTCPAY_API_KEY: 'B' }
    for (const mode of ['TEST', 'LIVE'] as const) expect(accountsIn(env, mode).btcpay?.account.mode).toBe(mode)
  })

  test('a card processor without its secret key is listed but cannot take payments', () => {
    expect(accountsIn({ TAP_PUBLISHABLE_KEY: 'pk_test_a' }).tap?.canPay).toBe(false)
    expect(accountsIn({ QPAY_INVOICE_CODE: 'A', QPAY_USERNAME: 'B' }).qpay?.canPay).toBe(false)
    expect(accountsIn({ STRIPE_SECRET_KEY: 'sk_test_a' }).stripe).toMatchObject({ account: { publishableKey: undefined }, canPay: true })
  })

  test('PayPal and BTCPay are listed only with all of their credentials', () => {
    for (const env of [
      { PAYPAL_CLIENT_ID: 'A' },
      { PAYPAL_SECRET: 'A' },
      { BTCPAY_API_URL: 'https://pay.example', BTCPAY_STORE_ID: 'A' },
      { BTCPAY_API_URL: 'https://pay.example', BTCPAY_API_KEY: 'A' },
      { BTCPAY_STORE_ID: 'A', BTCPAY_API_KEY: 'A' },
    ])
      expect(accountsIn(env as Record<string, string>)).toEqual({})
  })
})

describe("a shop's accounts", () => {
  const shopAccounts = (publishable: Record<string, string>) => ({ stripe: { mode: 'TEST', publishable, host: 'pay.example' } as const })
  const instance = accountsIn({ STRIPE_PUBLISHABLE_KEY: 'pk_test_instance', STRIPE_SECRET_KEY: 'sk_test_a', TAP_SECRET_KEY: 'sk_test_b' })

  test("a shop's account replaces the instance's account of the same processor as a whole", () => {
    const accounts = withShopAccounts(instance, shopAccounts({ publishableKey: 'pk_test_shop' }))
    expect(accounts.stripe).toEqual({
      account: { mode: 'TEST', publishableKey: 'pk_test_shop', merchantId: undefined },
      canPay: true,
      host: 'pay.example',
      isShops: true,
    })
    expect(accounts.tap).toEqual(instance.tap as never)
    // A page that uses the key of another account could not pay through this one.
    expect(withShopAccounts(instance, shopAccounts({})).stripe?.account.publishableKey).toBeUndefined()
  })

  test("a shop's account can take payments unless the configuration has a different publishable key", () => {
    const payable = (publishable: Record<string, string>, publishableKey?: string) => {
      const card = { enabled: true, processor: 'stripe', ...(publishableKey === undefined ? {} : { publishableKey }) } as const
      return payableFor({ mode: 'TEST', methods: { card } }, withShopAccounts(instance, shopAccounts(publishable))).has('stripe')
    }
    expect(payable({ publishableKey: 'pk_test_shop' })).toBe(true)
    expect(payable({ publishableKey: 'pk_test_shop' }, 'pk_test_shop')).toBe(true)
    expect(payable({ publishableKey: 'pk_test_shop' }, 'pk_test_other')).toBe(false)
    expect(payable({}, 'pk_test_other')).toBe(true)
    expect(payable({ publishableKey: 'pk_test_shop' }, 'pk_test_instance')).toBe(false)
  })
})
