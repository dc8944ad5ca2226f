import type { Schema } from '../../lib/api/api.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

export type ReturnStatus = Schema<'Return'>['status']

const tones = { REQUESTED: 'warn', APPROVED: 'info', REJECTED: 'bad', RECEIVED: 'good' } as const

/** Returns the name of a return's status, as in the order's events. */
export const returnStatusName = (status: ReturnStatus): string => t(`event.RETURN_${status}`)

/** Shows the status of a return. */
export const ReturnBadge = ({ status }: { status: ReturnStatus }) => (
  <StatusBadge status={status} text={returnStatusName(status)} tone={tones[status]} />
)
