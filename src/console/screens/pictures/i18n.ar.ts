import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  text: 'كل الصور المرفوعة، الأحدث أولًا',
  add: 'رفع صور',
  none: 'لا توجد صور بعد',
  noneText: 'يمكن استخدام الصور المرفوعة في المنتجات والمجموعات والمقالات.',
  choose: 'تحديد صور',
  chosen: 'محددة',
  take: 'تحديد صورة {at}، {size}',
  open: 'عرض',
  url: 'URL',
  size: '{width} × {height}',
  removeTitle: 'حذف الصورة؟',
  removeText: 'ستظهر صورة معطوبة في الصفحات التي تستخدمها. لا يمكن التراجع عن ذلك.',
  removed: 'تم حذف الصورة',
  isKnown: 'سبق رفع {name}.',
  remove: 'حذف صورة {at}',
} satisfies Translation<typeof en>
