import type { Processor } from '../../../clients/processors/processor.ts'
import { createSandboxProcessor } from '../../../clients/processors/sandbox.ts'
import { createSandboxServer } from '../../../clients/processors/sandbox-server.ts'
import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'
import { sandboxTokens, signatureHeader } from './domain.ts'
import { sandboxReply, sandboxSignature } from './service.ts'
import { createSandboxStore } from './store.ts'

/** The sandbox: its store, its server and its client. */
export function sandboxProviders(deps: InstanceKeyDeps) {
  const sandboxStore = createSandboxStore(deps.db)
  const sign = (body: string | Uint8Array) => sandboxSignature(deps, body)
  const sandbox = createSandboxServer({
    reply: (route, id, body) => sandboxReply({ ...deps, sandboxStore }, route, id, body),
    sign,
    signatureHeader,
    secret: Buffer.from(deps.randomBytes(24)).toString('base64url'),
    onError: (what, error) => deps.log.warn('sandbox.failed', { what, error }),
  })
  const sandboxProcessor: Processor = createSandboxProcessor({
    open: sandbox.open,
    signatureOf: sign,
    tokens: sandboxTokens,
    signatureHeader,
  })
  return { sandboxStore, sandbox, sandboxProcessor }
}
