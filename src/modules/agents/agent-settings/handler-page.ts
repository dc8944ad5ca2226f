/** What platforms read about the payment handler for test payments. */
import { escapeHtml } from '../../../lib/markup.ts'
import { sandboxHandlerId, sandboxHandlerPath } from '../../../lib/ucp/handlers.ts'
import { sandboxResults, sandboxTokens } from '../../payments/sandbox/domain.ts'

/** Returns the JSON Schema of an instrument that the sandbox takes. */
export const sandboxInstrumentSchema = (publicUrl: string) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: `${publicUrl}${sandboxHandlerPath}`,
  title: 'Sandbox payment instrument',
  description: 'Pays in shops in test mode. No money moves.',
  type: 'object',
  required: ['id', 'handler_id', 'type', 'credential'],
  properties: {
    id: { type: 'string' },
    handler_id: { const: sandboxHandlerId },
    type: { type: 'string' },
    selected: { type: 'boolean' },
    credential: {
      type: 'object',
      required: ['type', 'token'],
      properties: { type: { const: 'token' }, token: { enum: sandboxTokens } },
    },
  },
})

const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Returns the page that describes the handler. */
export function sandboxHandlerPage(): { html: string; policy: string } {
  const rows = sandboxTokens.map(
    (token) => `<tr><th scope="row"><code>${token}</code></th><td>${escapeHtml(sandboxResults[token])}</td></tr>`,
  )
  const example = JSON.stringify({ type: 'token', token: sandboxTokens[0] })
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sandbox payment handler</title><style>body{font:1rem/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem}th{text-align:left;padding-right:1rem}</style></head>
<body><main><h1>Sandbox payment handler</h1>
<p>Shops in test mode offer it. No money moves. Complete a checkout with one selected instrument whose <code>handler_id</code> is <code>${sandboxHandlerId}</code> and whose credential is <code>${escapeHtml(example)}</code>. The token decides the result:</p>
<table><tbody>${rows.join('\n')}</tbody></table>
<p><a href="${sandboxHandlerPath}">JSON Schema of the instrument</a></p></main></body></html>
`
  return { html, policy }
}
