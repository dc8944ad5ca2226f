import { common } from '../lib/i18n/common.ts'
import { dismiss, toasts } from '../lib/live/toasts.ts'
import { Button } from './button.tsx'
import { ErrorText } from './error-message.tsx'

/** Shows the toasts. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, error, undo }) => (
      <div key={id} class={error === undefined ? 'toast' : 'toast bad'}>
        {text === undefined ? <ErrorText error={error} /> : <p>{text}</p>}
        {undo && (
          <Button
            kind="quiet"
            onPress={async () => {
              dismiss(id)
              await undo()
            }}
            text={common('undo')}
          />
        )}
        <Button kind="quiet" icon="close" label={common('close')} onPress={() => dismiss(id)} />
      </div>
    ))}
  </div>
)
