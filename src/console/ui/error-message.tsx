import { ApiError } from '../lib/api/api-error.ts'
import { common } from '../lib/i18n/common.ts'
import { isOperator } from '../lib/session/session.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

/** Shows an error with its request id. */
export function ErrorText({ error }: { error: unknown }) {
  const refused = error instanceof ApiError ? error : undefined
  const text =
    refused === undefined
      ? error instanceof Error
        ? error.message
        : String(error)
      : refused.status === 0
        ? common(refused.code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'away')
        : refused.message
  // The API's messages are English, so English has no names of statuses.
  const kind = `refused.${refused?.status}`
  return (
    <div class="problem-text">
      <p>
        <strong>{common.has(kind) ? common(kind) : common('failed')}</strong> <bdi>{text}</bdi>
      </p>
      {refused?.status === 403 && isOperator.value && refused.message.includes('(OPERATOR_') && <p>{common('operatorWhere')}</p>}
      {refused?.retryAfter != null && refused.retryAfter > 0 && <p>{common('tryIn', { n: refused.retryAfter })}</p>}
      {refused?.requestId && (
        <p class="faint">
          <small>{common('requestId', { id: refused.requestId })}</small>
        </p>
      )}
    </div>
  )
}

/** Shows an error in place of content. */
export const ErrorMessage = ({ error, retry }: { error: unknown; retry?: () => unknown }) => (
  <div class="problem" role="alert">
    <Icon name="warn" />
    <ErrorText error={error} />
    {retry && <Button onPress={retry} text={common('retry')} />}
  </div>
)
