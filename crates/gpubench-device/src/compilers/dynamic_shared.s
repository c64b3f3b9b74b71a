	.text
	.type gb_dynamic_place, @function
gb_dynamic_place:
	endbr64
	subq $8, %rsp
	leaq gb_dynamic_start@tlsdesc(%rip), %rax
	call *gb_dynamic_start@tlscall(%rax)
	movq %fs:(%rax), %rax
	subq %fs:0, %rax
	addq $8, %rsp
	ret
	.globl gb_place_dynamic_shared_v1
	.type gb_place_dynamic_shared_v1, @function
gb_place_dynamic_shared_v1:
	endbr64
	subq $8, %rsp
	leaq gb_dynamic_start@tlsdesc(%rip), %rax
	call *gb_dynamic_start@tlscall(%rax)
	movq %rdi, %fs:(%rax)
	addq $8, %rsp
	ret
	.section .tbss,"awT",@nobits
	.balign 8
	.type gb_dynamic_start, @object
gb_dynamic_start:
	.zero 8
	.section .note.GNU-stack,"",@progbits
	.section .data.rel.ro,"aw",@progbits
	.balign 8
