import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { showError } from '../lib/live/toasts.ts'
import { Icon, type IconName } from './icon.tsx'

type Kind = 'primary' | 'plain' | 'danger' | 'quiet'
type Common = {
  readonly kind?: Kind
  readonly icon?: IconName
  readonly text?: string
  /** Instead of a text. */
  readonly children?: ComponentChildren
  readonly label?: string
}

const face = ({ icon, text, children = text }: Common) => (
  <>
    {icon && <Icon name={icon} />}
    {children !== undefined && <span>{children}</span>}
  </>
)

/**
 * A button that is disabled while its action runs and shows the action's error.
 * @param label accessible name of an icon button
 */
export function Button({
  onPress,
  disabled,
  submit,
  busy = false,
  ...rest
}: Common & { onPress?: () => unknown; disabled?: boolean; submit?: boolean; busy?: boolean }) {
  const [working, setWorking] = useState(false)
  async function press() {
    if (!onPress || working || busy) return
    const doing = onPress()
    if (!(doing instanceof Promise)) return
    setWorking(true)
    try {
      await doing
    } catch (error) {
      showError(error)
    } finally {
      setWorking(false)
    }
  }
  const isBusy = working || busy
  return (
    <button
      type={submit ? 'submit' : 'button'}
      class={`button ${rest.kind ?? 'plain'}`}
      aria-label={rest.label}
      title={rest.label}
      aria-busy={isBusy}
      aria-disabled={isBusy || undefined}
      disabled={disabled}
      onClick={onPress ? press : undefined}
    >
      {face(rest)}
    </button>
  )
}

export const ButtonLink = ({ href, ...rest }: Common & { href: string }) => (
  <a class={`button ${rest.kind ?? 'plain'}`} href={href} aria-label={rest.label} title={rest.label}>
    {face(rest)}
  </a>
)

/** Links to the form of a new record. */
export const CreateLink = ({ href, text }: { href: string; text: string }) => (
  <ButtonLink icon="plus" kind="primary" href={href} text={text} />
)
