CREATE TABLE `credit_note_numbers` (
	`shop_id` text NOT NULL,
	`mode` text NOT NULL,
	`last` integer NOT NULL,
	PRIMARY KEY(`shop_id`, `mode`),
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `credit_notes` (
	`refund_id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`shop_id` text NOT NULL,
	`mode` text NOT NULL,
	`number` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`refund_id`) REFERENCES `refunds`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `credit_notes_number` ON `credit_notes` (`shop_id`,`mode`,`number`);--> statement-breakpoint
CREATE INDEX `credit_notes_order` ON `credit_notes` (`order_id`);--> statement-breakpoint
CREATE TABLE `invoices` (
	`order_id` text PRIMARY KEY NOT NULL,
	`seller` text NOT NULL,
	`buyer` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
ALTER TABLE `shops` ADD `legal_name` text;--> statement-breakpoint
ALTER TABLE `shops` ADD `tax_number` text;--> statement-breakpoint
ALTER TABLE `shops` ADD `invoice_note` text;