import { signal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { common } from '../lib/i18n/common.ts'
import { notify } from '../lib/live/toasts.ts'
import { sessionStatus } from '../lib/session/session.ts'
import { dirtySources, isDirty } from '../lib/session/unsaved-changes.ts'
import { Button } from './button.tsx'
import { Toasts } from './toast.tsx'

/** The open dialogs, the topmost last. */
const openDialogs = signal<readonly symbol[]>([])

/** Toasts of the page. An open dialog shows them itself, because the page behind it is inert. */
export const PageToasts = () => (openDialogs.value.length === 0 ? <Toasts /> : null)

/** A modal dialog: keeps the focus, closes on Escape, and restores the focus. */
export function Dialog({
  title,
  onClose,
  children,
  wide,
  focusesField,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
  wide?: boolean
  /** Focuses the first field. */
  focusesField?: boolean
}) {
  const element = useRef<HTMLDialogElement>(null)
  const [dialogId] = useState(() => Symbol(title))
  const id = useId()
  // Behind the login the dialog would still keep the focus.
  const isLocked = sessionStatus.value === 'locked'
  useEffect(() => {
    const dialog = element.current
    if (!dialog || isLocked) return
    const previousFocus = document.activeElement
    dialog.showModal()
    openDialogs.value = [...openDialogs.peek(), dialogId]
    if (focusesField) dialog.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)')?.focus()
    return () => {
      openDialogs.value = openDialogs.peek().filter((id) => id !== dialogId)
      dialog.close()
      if (previousFocus instanceof HTMLElement && previousFocus.isConnected) previousFocus.focus()
    }
  }, [isLocked])
  return (
    <dialog
      ref={element}
      class={wide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        // Browsers close a dialog on a repeated Escape; it is reopened and asks again.
        if (!openDialogs.peek().includes(dialogId)) return
        element.current?.showModal()
        onClose()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" label={common('close')} onPress={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
      {openDialogs.value.at(-1) === dialogId && <Toasts />}
    </dialog>
  )
}

type Question = {
  readonly title: string
  readonly body?: ComponentChildren
  /** Text of the confirming button: the action, not "OK". */
  readonly action: string
  /** Text of the other button; "Cancel" by default. */
  readonly alternative?: string
  readonly danger?: boolean
}
/** The pressed button; undefined if the dialog was closed or another question replaced it. */
type QuestionAnswer = 'action' | 'alternative' | undefined
const openQuestion = signal<(Question & { answer: (chosen: QuestionAnswer) => void }) | undefined>(undefined)

/** Asks a question whose two buttons both act; closing it is a third answer. */
export function askChoice(question: Question): Promise<QuestionAnswer> {
  openQuestion.value?.answer(undefined)
  return new Promise((resolve) => {
    openQuestion.value = {
      ...question,
      answer(chosen) {
        openQuestion.value = undefined
        resolve(chosen)
      },
    }
  })
}

/** Closes a question whose subject is no longer shown. */
export const dismissQuestion = (): void => openQuestion.value?.answer(undefined)

/** Asks before an irreversible action. */
export const confirm = async (question: Question): Promise<boolean> => (await askChoice(question)) === 'action'

/** Returns whether a form is being sent. */
const isSending = (): boolean => document.querySelector('form[aria-busy=true]') !== null
const checkMs = 100

/**
 * Asks before unsaved content is lost. Resolves by itself if the content is saved meanwhile; stays on the page if a
 * running submit ends.
 * @param except sources that are not lost
 */
export function askToLeave(except?: ReadonlySet<symbol>): Promise<boolean> {
  const wasSending = isSending()
  const isSecret = !wasSending && isDirty(except, 'secret')
  const isUpload = !wasSending && !isSecret && !isDirty(except, 'input')
  const body = <p>{common(wasSending ? 'leaveSending' : isSecret ? 'leaveOnceText' : isUpload ? 'leaveUploadText' : 'leaveText')}</p>
  const action = common(isSecret ? 'leaveOnce' : 'leave')
  const title = common(isSecret ? 'leaveOnceTitle' : isUpload ? 'leaveUploadTitle' : 'leaveTitle')
  const chosen = confirm({ title, body, action, alternative: common('stay'), danger: true })
  const question = openQuestion.peek()
  const timer = setInterval(() => {
    if (openQuestion.peek() !== question || isSending()) return
    if (!isDirty(except)) question?.answer('action')
    else if (wasSending) question?.answer(undefined)
  }, checkMs)
  return chosen.finally(() => clearInterval(timer))
}

/** Shows the open question; used once, in the shell. */
export function QuestionDialog() {
  const question = openQuestion.value
  if (!question) return null
  const { title, body, action, alternative = common('cancel'), danger, answer } = question
  return (
    <Dialog key={title} title={title} onClose={() => answer(undefined)}>
      {body}
      <div class="form-actions">
        <Button kind={danger ? 'danger' : 'primary'} onPress={() => answer('action')} text={action} />
        <Button onPress={() => answer('alternative')} text={alternative} />
      </div>
    </Dialog>
  )
}

/** Closes the dialog around a component; undefined outside dialogs. */
export const CloseDialogContext = createContext<(() => Promise<void>) | undefined>(undefined)

/**
 * A form in a dialog. It asks before unsaved input is lost and stays open while sending, because the result can be a
 * code that is shown once.
 */
export function FormDialog({ onClose, children, ...rest }: Parameters<typeof Dialog>[0]) {
  // Unsaved input of the page behind is not lost.
  const [dirtyBefore] = useState(dirtySources)
  const isClosed = useRef(false)
  useLayoutEffect(
    () => () => {
      isClosed.current = true
    },
    [],
  )
  async function close() {
    if (isSending()) return notify(common('isSending'), { subject: 'sending' })
    if (isDirty(dirtyBefore) && !(await askToLeave(dirtyBefore))) return
    // A finished submit may have closed it already.
    if (!isClosed.current) onClose()
  }
  return (
    <Dialog {...rest} onClose={close} focusesField>
      <CloseDialogContext.Provider value={close}>{children}</CloseDialogContext.Provider>
    </Dialog>
  )
}
