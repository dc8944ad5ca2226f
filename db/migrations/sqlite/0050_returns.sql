CREATE TABLE `returns` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`shop_id` text NOT NULL,
	`status` text NOT NULL,
	`lines` text NOT NULL,
	`requested_by` text NOT NULL,
	`rejection` text,
	`restocked` integer DEFAULT false NOT NULL,
	`refund_id` text,
	`attempt_key` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `returns_order` ON `returns` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `returns_open` ON `returns` (`shop_id`,`order_id`) WHERE status in ('REQUESTED', 'APPROVED');--> statement-breakpoint
ALTER TABLE `shops` ADD `return_days` integer DEFAULT 30 NOT NULL;