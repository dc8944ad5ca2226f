import { ApiError } from '../lib/api/api-error.ts'
import { common } from '../lib/i18n/common.ts'
import { isOperator } from '../lib/session/session.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

/** Shows an error with its request id. */
export function ErrorText({ error }: { error: unknown }) {
  const refused = error instanceof ApiError ? error : undefined
  const isOutdated = refused?.status === 412
  const text = isOutdated
    ? common('conflictTitle')
    : refused === undefined
      ? error instanceof Error
        ? error.message
        : String(error)
      : refused.status === 0
        ? common(refused.code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'away')
        : refused.message
  // The API's messages are English, so English has no names of statuses.
  const kind = `refused.${refused?.status}`
  // An error that names a field, or that a form throws, is a whole sentence.
  const isSentence = refused === undefined ? error instanceof Error && error.name === 'Error' : refused.field !== undefined
  const heading = isOutdated ? undefined : common.has(kind) ? common(kind) : isSentence ? undefined : `${common('failed')}:`
  return (
    <div class="problem-text">
      <p>
        {heading && <strong>{heading} </strong>}
        <bdi>{text}</bdi>
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
