import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  text: 'كل ما رفعه هذا المتجر، الأحدث أولًا.',
  add: 'رفع صور',
  none: 'لا صور بعد',
  noneText: 'ما ترفعه هنا أو مع منتج يمكن أن يظهر في أي منتج أو مجموعة أو مقال.',
  choose: 'اختيار صور',
  chosen: 'أُخذت',
  take: 'أخذ صورة {at}، {size}',
  open: 'فتح',
  size: '{width} × {height}',
  removeTitle: 'حذف هذه الصورة؟',
  removeText: 'لن يعرض عنوانها شيئًا بعد الآن. لا يمكن التراجع عن ذلك، لكن يمكن رفع الصورة من جديد.',
  removed: 'حُذفت الصورة',
  isKnown: '{name} موجودة هنا من قبل: لم يُضَف شيء.',
  remove: 'حذف صورة {at}',
} satisfies Translation<typeof en>
