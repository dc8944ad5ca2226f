/** A processor's payment page, on which the shopper of the demo pays with one click. */
import type { ApiAnswer } from './server.ts'

const html = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }
const pageOf = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:15vh auto;padding:0 1rem}button{font:inherit;padding:.6rem 1.2rem}</style>
<h1>${title}</h1>
${body}
</html>
`

/**
 * Returns a page with one button.
 * @param what the sentence above the button; not escaped
 */
export const payPage = (processor: string, what: string, button = 'Pay'): ApiAnswer => ({
  status: 200,
  headers: html,
  json: pageOf(
    `${processor} (simulated)`,
    `<p>${what}. No money moves.</p>\n<form method="post"><button autofocus>${button}</button></form>`,
  ),
})

/** Returns the response after a payment: a redirect to `returnUrl`, or a page without one. */
export const afterPaying = (processor: string, returnUrl?: string): ApiAnswer =>
  returnUrl === undefined
    ? { status: 200, headers: html, json: pageOf(`${processor} (simulated)`, '<p>Done. You can close this page.</p>') }
    : { status: 303, headers: { location: returnUrl } }

export const nothingToPay: ApiAnswer = {
  status: 404,
  headers: html,
  json: pageOf('Nothing to pay', '<p>This payment was already made or does not exist.</p>'),
}
