import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBtcpayServer } from '../clients/processors/btcpay-server.ts'
import { startPaypal } from '../clients/processors/paypal-server.ts'
import { startStripe } from '../clients/processors/stripe-server.ts'
import { startTapServer, tapKeys } from '../clients/processors/tap-server.ts'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, logIn, serve, servedOnce, souk, withFile } from './souk.ts'

const runProcessors = (dataDir: string, settings: Record<string, string>) => souk(['processors'], dataDir, { settings })

describeProcesses('souk processors', () => {
  test('souk processors reports whether each configured account works and why not, without a database', async () => {
    await using stripe = await startStripe()
    await using tap = await startTapServer()
    await using paypal = await startPaypal()
    const dataDir = temporaryDir()
    const settings = {
      STRIPE_PUBLISHABLE_KEY: 'pk_test_standin',
      STRIPE_SECRET_KEY: 'sk_test_standin',
      STRIPE_API_URL: stripe.url,
      TAP_SECRET_KEY: tapKeys.secretKey,
      TAP_API_URL: tap.apiUrl,
    }
    const { host } = new URL(stripe.url)
    const good = await runProcessors(dataDir, settings)
    expect([good.status, good.stderr]).toEqual([0, ''])
    expect(good.stdout.split('\n').sort()).toEqual([
      '',
      `ok    stripe of the settings (TEST, ${host})`,
      `ok    tap of the settings (TEST, ${new URL(tap.url).host})`,
    ])
    const bad = await runProcessors(dataDir, {
      ...settings,
      TAP_SECRET_KEY: 'sk_test_PLANTED',
      PAYPAL_CLIENT_ID: 'client',
      PAYPAL_SECRET: 'PLANTED',
      PAYPAL_API_URL: paypal.url,
      QPAY_INVOICE_CODE: 'A',
      QPAY_PASSWORD: 'PLANTED',
      BTCPAY_API_URL: 'http://127.0.0.1:1',
      BTCPAY_STORE_ID: 'A',
      BTCPAY_API_KEY: 'PLANTED',
    })
    expect(bad.status).toBe(1)
    expect(bad.stdout).toBe(`ok    stripe of the settings (TEST, ${host})\n`)
    const lines = bad.stderr.split('\n')
    const after = (start: string) => lines[lines.findIndex((line) => line.startsWith(start)) + 1]?.trim()
    expect(after('FAIL  tap of the settings')).toBe('TAP_SECRET_KEY: Tap rejects this key')
    expect(after('FAIL  paypal of the settings')).toBe('PAYPAL_CLIENT_ID, PAYPAL_SECRET: PayPal rejects these in this mode')
    expect(after('FAIL  qpay of the settings')).toBe('QPAY_USERNAME must be set as well: nothing can be paid through it')
    expect(after('FAIL  btcpay of the settings')).toStartWith('the processor did not answer')
    expect(bad.stdout + bad.stderr).not.toContain('PLANTED')
    expect(readdirSync(dataDir)).toEqual([])
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('souk-processors-'))).toEqual([])
  })

  test('souk processors says when no account is configured', async () => {
    const { status, stdout, stderr } = await runProcessors(temporaryDir(), {})
    expect([status, stderr, stdout.startsWith('No payment processor account')]).toEqual([0, '', true])
  })

  test('souk processors also tests accounts of shops, beside a server, and reports one that cannot be opened', async () => {
    await using btcpay = await startBtcpayServer()
    const { dataDir } = await servedOnce()
    const settings = { OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' }
    await using server = await serve(dataDir, settings)
    const token = await logIn(server)
    const { mode: _, ...account } = btcpay.account
    const put = await server.call('PUT', '/shops/v2/processor-accounts/btcpay', { token, body: account })
    expect(put).toMatchObject({ status: 200, body: { processor: 'btcpay', mode: 'TEST' } })
    const { host } = new URL(btcpay.url)
    const good = await runProcessors(dataDir, settings)
    expect(good).toMatchObject({ status: 0, stderr: '' })
    expect(good.stdout).toMatch(new RegExp(`^ok    btcpay of shop \\S+ \\(TEST, ${host.replace('.', '\\.')}\\)\n$`))
    // Accounts of merchants must not reach loopback addresses.
    const guarded = await runProcessors(dataDir, {})
    expect([guarded.status, guarded.stderr]).toEqual([1, expect.stringContaining('address not allowed')])
    withFile(join(dataDir, 'souk.db'), (file) => file.run("UPDATE processor_accounts SET sealed_settings = 'v0:none'"))
    const closed = await runProcessors(dataDir, settings)
    expect([closed.status, closed.stderr]).toEqual([1, expect.stringContaining('its sealed secrets cannot be opened')])
  })
})
