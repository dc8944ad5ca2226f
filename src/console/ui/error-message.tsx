import { ApiError } from '../lib/api/api-error.ts'
import { common } from '../lib/i18n/common.ts'
import { isOperator } from '../lib/session/session.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

/** Shows an error with its request id. */
export function ErrorText({ error }: { error: unknown }) {
  const apiError = error instanceof ApiError ? error : undefined
  const isOutdated = apiError?.status === 412
  const text = isOutdated
    ? common('conflictTitle')
    : apiError === undefined
      ? error instanceof Error
        ? error.message
        : String(error)
      : apiError.status === 0
        ? common(apiError.code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'away')
        : apiError.message
  // An error that names a field, or that a form throws, is a whole sentence.
  const isSentence = apiError === undefined ? error instanceof Error && error.name === 'Error' : apiError.field !== undefined
  // The API's messages are English, so English has no names of statuses.
  const heading = isOutdated ? undefined : (common.find(`refused.${apiError?.status}`) ?? (isSentence ? undefined : `${common('failed')}:`))
  return (
    <div class="problem-text">
      <p>
        {heading && <strong>{heading} </strong>}
        <bdi>{text}</bdi>
      </p>
      {apiError?.status === 403 && isOperator.value && apiError.message.includes('(OPERATOR_') && <p>{common('operatorWhere')}</p>}
      {apiError?.retryAfter != null && apiError.retryAfter > 0 && <p>{common('tryIn', { n: apiError.retryAfter })}</p>}
      {apiError?.requestId && (
        <p class="faint">
          <small>{common('requestId', { id: apiError.requestId })}</small>
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
