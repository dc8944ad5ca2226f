/** The page of a processor on which a shopper of the demo pays, with one click. */
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

/** @param what is to be paid, or fetched: trusted text */
export const payPage = (processor: string, what: string, button = 'Pay'): ApiAnswer => ({
  status: 200,
  headers: html,
  json: pageOf(
    `${processor}, played by the demo`,
    `<p>${what}. No money moves.</p>\n<form method="post"><button autofocus>${button}</button></form>`,
  ),
})

/** The shopper has paid: they go back to the shop, where it said to which page. */
export const afterPaying = (processor: string, returnUrl?: string): ApiAnswer =>
  returnUrl === undefined
    ? { status: 200, headers: html, json: pageOf(`${processor}, played by the demo`, '<p>Done. You can close this page.</p>') }
    : { status: 303, headers: { location: returnUrl } }

export const nothingToPay: ApiAnswer = {
  status: 404,
  headers: html,
  json: pageOf('Nothing to pay', '<p>It is paid already, or nobody knows it.</p>'),
}
