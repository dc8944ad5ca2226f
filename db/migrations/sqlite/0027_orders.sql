CREATE TABLE `fulfilments` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`lines` text NOT NULL,
	`tracking_number` text,
	`carrier` text,
	`attempt_key` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `fulfilments_order` ON `fulfilments` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `order_notes` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`text` text NOT NULL,
	`actor` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_notes_order` ON `order_notes` (`order_id`,`id`);--> statement-breakpoint
-- by hand: an order that was sent before was sent whole, in one parcel, under the suffix of its own id
INSERT INTO `fulfilments` (`id`, `order_id`, `lines`, `tracking_number`, `carrier`, `created_at`, `updated_at`)
SELECT 'ful_' || substr(o.`id`, 7), o.`id`,
  (SELECT json_group_array(json_object('lineId', l.`id`, 'quantity', l.`quantity`) ORDER BY l.`position`) FROM `order_lines` l WHERE l.`order_id` = o.`id`),
  o.`tracking_number`, o.`carrier`, coalesce(o.`fulfilled_at`, o.`updated_at`), coalesce(o.`fulfilled_at`, o.`updated_at`)
FROM `orders` o WHERE o.`fulfilment_status` = 'FULFILLED';
