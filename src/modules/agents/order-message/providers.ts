import type { WebhookDeps } from '../../messaging/webhook/index.ts'
import { createOrderMessageSender, type OrderMessageDeps } from './dispatch.ts'
import { consumeOutbox } from './service.ts'

export function orderMessageProviders(deps: OrderMessageDeps & Pick<WebhookDeps, 'outboxConsumers'>) {
  if (deps.config.agentsEnabled) deps.outboxConsumers.push(consumeOutbox(deps))
  return { orderMessages: createOrderMessageSender(deps) }
}
